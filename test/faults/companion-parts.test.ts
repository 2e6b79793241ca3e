import { describeEveryBoundary } from './boundaries.js'
import { COMPANION_PART_CASES } from './families.js'

describeEveryBoundary('a fault at every command to companion records that hold children', COMPANION_PART_CASES)
