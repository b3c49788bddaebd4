/** One line that a child wrote. */
export interface LogLine {
  readonly stream: 'out' | 'err'
  readonly text: string
  /** The line as an object, where it is a JSON object (pino's lines are). */
  readonly json: Readonly<Record<string, unknown>> | undefined
}

/** Cuts a stream into lines, whatever the pieces it comes in. */
export class LineCutter {
  readonly #stream: LogLine['stream']
  #rest = ''

  constructor(stream: LogLine['stream']) {
    this.#stream = stream
  }

  /** The lines that this piece completes. */
  push(piece: string): LogLine[] {
    const lines = (this.#rest + piece).split('\n')
    this.#rest = lines.pop() ?? ''
    return lines.map((text) => parseLine(this.#stream, text))
  }

  /** What is left without a line break when the stream ends. */
  end(): LogLine[] {
    return this.#rest === '' ? [] : [parseLine(this.#stream, this.#rest)]
  }
}

function parseLine(stream: LogLine['stream'], text: string): LogLine {
  return { stream, text, json: text.startsWith('{') ? parseObject(text) : undefined }
}

function parseObject(text: string): LogLine['json'] {
  try {
    return JSON.parse(text) as LogLine['json']
  } catch {
    return undefined
  }
}
