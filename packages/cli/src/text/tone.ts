/** What a colour stands for. */
export type Tone = 'good' | 'bad' | 'warn' | 'dim'

/** Colours a text, or does not. */
export type Paint = (text: string, tone: Tone | undefined) => string

const CODES: Readonly<Record<Tone, number>> = { good: 32, bad: 31, warn: 33, dim: 2 }

export const plain: Paint = (text) => text

export const coloured: Paint = (text, tone) => (tone === undefined ? text : `\u001b[${CODES[tone]}m${text}\u001b[0m`)
