/** Runs of each property. The default takes about a minute in all; `CRONCE_PROPERTY_RUNS=500` for a quick look. */
export const PROPERTY_RUNS = Number(process.env.CRONCE_PROPERTY_RUNS ?? 10_000)

/** A property may take as long as its runs ask for. */
export const PROPERTY_TIMEOUT_MS = Math.max(180_000, PROPERTY_RUNS * 60)
