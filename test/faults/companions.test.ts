import { describeEveryBoundary } from './boundaries.js'
import { COMPANION_CASES } from './families.js'

describeEveryBoundary('a fault at every command to companion records', COMPANION_CASES)
