import { replayOperateCases } from './operate-cases.js'

describe('Recorded path operations and path expressions', () => replayOperateCases('path.jsonl', 3000))
