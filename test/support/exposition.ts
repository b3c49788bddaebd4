/** One metric as an app exposes it. */
export interface ExposedMetric {
  readonly name: string
  readonly kind: string
  readonly samples: readonly Sample[]
}

export interface Sample {
  /** The metric's name, or that of a part of a histogram. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

/** Reads the text format of Prometheus. Throws for a line that is none of it. */
export function readExposition(text: string): Map<string, ExposedMetric> {
  const kinds = new Map<string, string>()
  const samples = new Map<string, Sample[]>()
  for (const line of text.split('\n')) {
    const type = /^# TYPE (\S+) (\S+)$/.exec(line)
    if (type?.[1] !== undefined) kinds.set(type[1], type[2] ?? '')
    if (line === '' || line.startsWith('#')) continue
    const [, name = '', labels = '', value] = SAMPLE.exec(line) ?? []
    if (name === '') throw new Error(`no sample: ${line}`)
    const part = name.replace(/_(bucket|sum|count)$/, '')
    const metric = kinds.get(part) === 'histogram' ? part : name
    const read = Object.fromEntries(Array.from(labels.matchAll(LABEL), ([, label, given = '']) => [label, given]))
    samples.set(metric, [...(samples.get(metric) ?? []), { name, labels: read, value: Number(value) }])
  }
  return new Map(Array.from(kinds, ([name, kind]) => [name, { name, kind, samples: samples.get(name) ?? [] }]))
}
