import { listPresence } from '@cronce/operations'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { presenceJson } from '../json/presence-json.ts'
import { withService } from '../service-connection.ts'
import { presenceLines } from '../text/presence-text.ts'

/** `replicas`: the processes of a service, triggers and workers. */
export async function replicas(context: Context): Promise<Answer> {
  const presences = await withService(context, ({ store }) => listPresence(store))
  return {
    json: presenceJson(presences),
    text: () => {
      const lines = presenceLines(presences, context.terminal)
      return lines.length === 0 ? [' no replica and no worker was heard of for an hour'] : lines
    },
  }
}
