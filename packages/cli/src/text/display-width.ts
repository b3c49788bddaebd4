/** Characters that take two columns of a terminal: East Asian wide forms and pictographs. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u

const NO_COLUMN = /\p{Mn}|\p{Me}/u

/** How many columns of a terminal a text takes. */
export function displayWidth(text: string): number {
  let width = 0
  for (const character of text) {
    if (NO_COLUMN.test(character)) continue
    width += WIDE.test(character) ? 2 : 1
  }
  return width
}

/** The text with blanks after it, or before it, up to `width` columns. */
export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const blanks = ' '.repeat(Math.max(0, width - displayWidth(text)))
  return align === 'left' ? text + blanks : blanks + text
}

/** Breaks a text at blanks into lines of at most `width` columns. A longer word stays whole: it may be an id. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && displayWidth(line) + 1 + displayWidth(word) > width) {
      lines.push(line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return [...lines, line]
}
