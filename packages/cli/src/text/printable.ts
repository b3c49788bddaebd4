/** What a terminal would act on instead of showing it: control characters, directions of writing, lone surrogates. */
const ACTS_ON_TERMINALS = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/**
 * Text as a terminal may show it, on one line: names, keys, errors and payloads come from elsewhere and may hold escape
 * sequences.
 */
export function printable(text: string): string {
  return text.replaceAll(
    ACTS_ON_TERMINALS,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}}`,
  )
}

/** JSON on one line, without the characters that JSON lets through and a terminal acts on. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[\u007f-\u009f]|\p{Cf}|[\u2028\u2029]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
}
