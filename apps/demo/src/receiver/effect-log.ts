import { createWriteStream } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type EffectLine, readEffectLines } from './effect-line.ts'

/** The receiver's log: a file of one JSON object a line, which anyone may count. */
export interface EffectLog {
  readonly file: string
  append(line: EffectLine): void
  /** All lines, read back from the file once those before are in it. */
  read(): Promise<EffectLine[]>
  close(): Promise<void>
}

/** Starts an empty log. */
export async function openEffectLog(file: string): Promise<EffectLog> {
  await mkdir(dirname(file), { recursive: true })
  const stream = createWriteStream(file, { flags: 'w' })
  const flushed = () =>
    new Promise<void>((resolve, reject) => stream.write('', (error) => (error ? reject(error) : resolve())))
  await flushed()
  return {
    file,
    append: (line) => void stream.write(`${JSON.stringify(line)}\n`),
    async read() {
      await flushed()
      return readEffectLines(await readFile(file, 'utf8'))
    },
    close: () => new Promise((resolve) => stream.end(resolve)),
  }
}
