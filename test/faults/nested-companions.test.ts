import { describeEveryBoundary } from './boundaries.js'
import { NESTED_COMPANION_CASES } from './families.js'

describeEveryBoundary('a fault at every command to companion records with children of children', NESTED_COMPANION_CASES)
