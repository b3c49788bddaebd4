import { cacheRefresh } from './definitions/cache-refresh.ts'
import { dailyDigest } from './definitions/daily-digest.ts'
import { packageReport } from './definitions/package-report.ts'
import { settlement } from './definitions/settlement.ts'

/** Every job of the service. Replicas and workers are given this list. */
export const jobs = [packageReport, dailyDigest, cacheRefresh, settlement] as const
