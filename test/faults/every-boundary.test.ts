import { describeEveryBoundary } from './boundaries.js'
import { CASES } from './families.js'

describeEveryBoundary('a fault at every command', CASES)
