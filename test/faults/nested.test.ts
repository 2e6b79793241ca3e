import { describeEveryBoundary } from './boundaries.js'
import { NESTED_CASES } from './families.js'

describeEveryBoundary('a fault at every command to records with children of children', NESTED_CASES)
