import { z } from 'zod'

/** `invoice-run=https://hc.example.com/uuid settlement=https://...`: jobs with their heartbeat URLs, separated by blanks. */
export function heartbeatsText(): z.ZodType<Readonly<Record<string, string>>> {
  return z.unknown().transform((value, context): Readonly<Record<string, string>> => {
    const urls: Record<string, string> = {}
    const parts = (typeof value === 'string' ? value : '').split(/\s+/).filter((part) => part !== '')
    for (const [index, part] of parts.entries()) {
      const [, job, url] = /^([^=]+)=(https?:\/\/\S+)$/.exec(part) ?? []
      // The text is not repeated: its path is a secret.
      if (job === undefined || url === undefined || !URL.canParse(url))
        fault(`expected job=https://..., got another text as number ${index + 1}`)
      else if (Object.hasOwn(urls, job)) fault(`expected each job once, got ${JSON.stringify(job)} twice`)
      else urls[job] = url
    }
    return urls

    function fault(message: string): void {
      context.addIssue({ code: 'custom', message })
    }
  })
}
