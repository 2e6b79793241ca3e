import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { SkeinError } from '../errors/index.js'

/** Files that servers of this process use. */
const used = new Set<string>()

/** Takes a data file for one server, with a file beside it that names the process; the result gives it back. */
export function lockFile(file: string): () => void {
  const lock = `${file}.lock`
  try {
    mkdirSync(dirname(file), { recursive: true })
    if (used.has(file) || isHeldByAnother(lock)) throw inUse(file, lock)
    writeFileSync(lock, `${process.pid}\n`)
  } catch (cause) {
    if (cause instanceof SkeinError) throw cause
    throw new SkeinError('SKEIN_4109', `The data file "${file}" cannot be used: ${(cause as Error).message}.`, {
      cause,
      fix: 'Choose a file that may be read and written.',
    })
  }
  used.add(file)
  return () => {
    used.delete(file)
    rmSync(lock, { force: true })
  }
}

/** A process that was killed leaves its lock behind; so does one of the same number before this one. */
function isHeldByAnother(lock: string): boolean {
  const pid = lockedBy(lock)
  if (pid === undefined || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function lockedBy(lock: string): number | undefined {
  try {
    const pid = Number(readFileSync(lock, 'utf8'))
    return Number.isInteger(pid) && pid > 0 ? pid : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function inUse(file: string, lock: string): SkeinError {
  const by = lockedBy(lock) ?? process.pid
  return new SkeinError('SKEIN_4109', `The data file "${file}" is in use by process ${by}.`, {
    fix: `Stop that server, or use another file; if no server runs, delete "${lock}".`,
  })
}
