import type { TtlModel } from '../model.js'
import type { RecordOptions } from '../options.js'
import { checkChoice, checkOptions, show } from './check-options.js'
import type { Place, Problems } from './problems.js'

// Ten years, the most that a server takes.
const MAX_SECONDS = 315_360_000

export function compileTtl(ttl: RecordOptions['ttl'], place: Place, problems: Problems): TtlModel {
  if (ttl === undefined) return { seconds: 'default', onUpdate: 'keep' }
  const options = typeof ttl === 'object' ? ttl : { seconds: ttl }
  checkOptions(problems, options, ['seconds', 'onUpdate'], place, 'ttl')
  checkChoice(problems, 'ttl.onUpdate', options.onUpdate, ['keep', 'refresh'], place)
  const { seconds } = options
  if (seconds !== 'never' && !(Number.isInteger(seconds) && seconds >= 1 && seconds <= MAX_SECONDS)) {
    const fix = `Give whole seconds from 1 to ${MAX_SECONDS} (ten years), or 'never'; leave it out for the namespace's default.`
    problems.add('SKEIN_1038', place, `${show(seconds)} is not a time to live.`, fix)
  }
  return { seconds, onUpdate: options.onUpdate ?? 'keep' }
}
