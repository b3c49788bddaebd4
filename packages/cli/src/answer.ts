import type { Exit } from './exit.ts'

/** What a command answers: the same facts as one JSON object and as text. */
export interface Answer {
  readonly json: Readonly<Record<string, unknown>>
  /** Lines for people, made only when they are wanted. What comes from elsewhere in them is made printable. */
  readonly text: () => readonly string[]
  /** Default `well`. */
  readonly exit?: Exit
  /** `streamed`: the command wrote its output itself, and nothing is added. Default `whole`. */
  readonly form?: 'whole' | 'streamed'
}
