import { type ActionRow, listActions, type ServiceAccess } from '@cronce/operations'
import { readTime } from '@cronce/store'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { ActionAnswer, ActionsAnswer } from './action-answers.ts'
import { readInput } from './input.ts'

const text = z.string().min(1).max(8_192).optional()
const ACTIONS = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: text,
  job: text,
  slot: text,
  who: text,
})

/** What people changed, for anybody who is signed in. */
export function addActionRoutes(app: FastifyInstance, { store }: ServiceAccess): void {
  app.get('/api/actions', async ({ query }): Promise<ActionsAnswer> => {
    const [now, { rows, next }] = await Promise.all([readTime(store), listActions(store, readInput(ACTIONS, query))])
    return { now, actions: rows.map(actionAnswer), next: next ?? null }
  })
}

function actionAnswer({ job, selection, note, ...row }: ActionRow): ActionAnswer {
  return { ...row, job: job ?? null, selection: selection ?? null, note: note ?? null }
}
