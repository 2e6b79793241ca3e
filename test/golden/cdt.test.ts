import { replayOperateCases } from './operate-cases.js'

describe('Recorded list and map operations', () => replayOperateCases('cdt.jsonl', 4905))
