import { SkeinError } from '../errors/index.js'

export function closedError(): SkeinError {
  return new SkeinError('SKEIN_4104', 'The database is closed.', {
    fix: 'Open it again, or close it only after the last use.',
  })
}
