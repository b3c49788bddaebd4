/** How far this replica has come with the history of one job. Instants in epoch ms. */
export interface HistoryProgress {
  foldedAt: number
  /** When it last looked for neighbours that are one gap. */
  mergedAt: number
}

export const freshProgress = (): HistoryProgress => ({ foldedAt: 0, mergedAt: 0 })
