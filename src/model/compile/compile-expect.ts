import type { ExpectedSize } from '../relation-model.js'
import { checkOptions, show } from './check-options.js'
import type { Place, Problems } from './problems.js'

/** Checks how large a collection is expected to be. */
export function compileExpect(given: unknown, place: Place, problems: Problems): ExpectedSize | undefined {
  if (given === undefined) return undefined
  if (typeof given === 'object' && given !== null) {
    checkOptions(problems, given, ['p99', 'bytes'], place, 'expect')
    const { p99, bytes } = given as ExpectedSize
    if (isCount(p99) && isCount(bytes)) return { p99, bytes }
  }
  const shown = typeof given === 'object' && given !== null ? JSON.stringify(given) : show(given)
  problems.add(
    'SKEIN_1049',
    place,
    `${shown} is not a valid value for the option 'expect'.`,
    'Give two whole numbers of at least 1: expect: { p99: 300_000, bytes: 15 }.',
  )
  return undefined
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 1
