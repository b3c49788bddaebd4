import { parser } from '@prometheus-io/lezer-promql'

/** What a PromQL query asks for. */
export interface ReadQuery {
  /** Where it cannot be parsed: positions and what stands there. */
  readonly faults: readonly string[]
  /** The metrics it selects, with the labels it matches on them. */
  readonly selectors: readonly { readonly metric: string; readonly labels: readonly string[] }[]
  /** Labels that it groups or joins by, with the metrics beneath. */
  readonly groupings: readonly { readonly label: string; readonly metrics: readonly string[] }[]
}

type Node = ReturnType<typeof parser.parse>['topNode']

/** Parses a query with the grammar that Prometheus's own page uses. */
export function readQuery(text: string): ReadQuery {
  const tree = parser.parse(text)
  const faults: string[] = []
  const selectors: { metric: string; labels: string[] }[] = []
  const groupings: { label: string; metrics: string[] }[] = []
  const textOf = (node: Node) => text.slice(node.from, node.to)
  const metricOf = (selector: Node) => found(selector, 'Identifier').map(textOf)[0] ?? ''
  tree.iterate({
    enter({ node, type }) {
      if (type.isError) faults.push(`at ${node.from} of ${text}`)
      if (type.name === 'VectorSelector')
        selectors.push({ metric: metricOf(node), labels: found(node, 'LabelName').map(textOf) })
      if (type.name !== 'GroupingLabels') return
      const metrics = found(wholeOf(node) ?? tree.topNode, 'VectorSelector').map(metricOf)
      for (const label of found(node, 'LabelName')) groupings.push({ label: textOf(label), metrics })
    },
  })
  return { faults, selectors, groupings }
}

/** The aggregation or the comparison that these labels belong to. */
function wholeOf(labels: Node): Node | undefined {
  for (let at = labels.parent; at !== null; at = at.parent)
    if (at.name === 'AggregateExpr' || at.name === 'BinaryExpr') return at
  return undefined
}

function found(node: Node, name: string): Node[] {
  const nodes: Node[] = []
  node.cursor().iterate((each) => {
    if (each.name === name) nodes.push(each.node)
  })
  return nodes
}
