import type { EntityModel, HistoryModel } from '../model.js'
import { KNOWN_OPTIONS, checkOptions, show } from './check-options.js'
import { checkCompanionSet } from './check-names.js'
import type { EntityNotes } from './compilation.js'
import { compileTtl } from './compile-ttl.js'
import type { Problems } from './problems.js'

const KEEP = 20
/** More would outgrow the one record that holds them. */
const MOST = 1000

/** The history of a class; undefined where it keeps none. */
export function compileHistory(
  { name: className, set, history }: EntityNotes,
  version: string | undefined,
  problems: Problems,
): HistoryModel | undefined {
  if (history === undefined) return undefined
  const place = { className }
  checkOptions(problems, history, KNOWN_OPTIONS.History, place, '@History')
  const { keep = KEEP, set: own = `${set}_history` } = history
  if (!Number.isInteger(keep) || keep < 1 || keep > MOST)
    problems.add(
      'SKEIN_1049',
      place,
      `${show(keep)} is not a valid value for the option 'keep'.`,
      `Give a whole number from 1 to ${MOST}.`,
    )
  if (version === undefined)
    problems.add(
      'SKEIN_1061',
      place,
      '@History needs a @Version: without one it is not known what a change replaces.',
      'Add @Version() version?: number.',
    )
  checkCompanionSet(problems, own, place)
  return { keep, ttl: compileTtl(history.ttl, place, problems).seconds, set: own }
}

/** Checks that all classes of a set agree: a record may become one of another class of it. */
export function checkHistories(entities: ReadonlyMap<string, EntityModel>, problems: Problems): void {
  for (const { name: className, base, history } of entities.values()) {
    const above = base === undefined ? undefined : entities.get(base)
    if (above === undefined || JSON.stringify(above.history) === JSON.stringify(history)) continue
    const message = `Its base class ${above.name}, which is stored in the same set, has ${above.history === undefined ? 'no' : 'another'} @History.`
    problems.add('SKEIN_1061', { className }, message, `Put @History on ${above.name}, and on no subclass.`)
  }
}
