/** One round of one side. */
export interface Round {
  readonly entities: number
  /** From the first write to the last entity. */
  readonly tookMs: number
  /** CPU time of every process of the side, Redis included. */
  readonly cpuMs: number
}

/** The most memory of a side so far, in bytes. */
export interface Peak {
  readonly redisBytes: number
  /** Of its largest worker process. */
  readonly rssBytes: number
}

/** One of the systems that are compared: a Redis and two worker processes of its own, alive from round to round. */
export interface Side {
  run(entities: number): Promise<Round>
  peak(): Promise<Peak>
  close(): Promise<void>
}

/** How often a side is asked whether it is done, ms: late by half of it on average. */
export const LOOK_EVERY_MS = 10

/** Worker processes of each side. */
export const WORKERS = 2
