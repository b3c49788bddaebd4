import { holdSeeds } from './hold-seeds.ts'

holdSeeds([10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20])
