import { describeEveryBoundary } from './boundaries.js'
import { DATED_CASES } from './families.js'

describeEveryBoundary('a fault at every command to buckets of links and keys', DATED_CASES, 3)
