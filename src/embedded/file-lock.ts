import { randomUUID } from 'node:crypto'
import {
  constants,
  copyFileSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { SkeinError } from '../errors/index.js'

/** Files that servers of this process use. */
const used = new Set<string>()

interface LockedFile {
  /** The file itself, without symbolic links. */
  readonly path: string
  readonly unlock: () => void
}

/** Takes a data file for one server, with a file beside it that names the process. */
export function lockFile(file: string): LockedFile {
  try {
    const path = realPath(file)
    const lock = `${path}.lock`
    if (used.has(path) || !take(lock)) throw inUse(file, lock)
    used.add(path)
    const unlock = (): void => {
      used.delete(path)
      rmSync(lock, { force: true })
    }
    return { path, unlock }
  } catch (cause) {
    if (cause instanceof SkeinError) throw cause
    throw new SkeinError('SKEIN_4109', `The data file "${file}" cannot be used: ${(cause as Error).message}.`, {
      cause,
      fix: 'Choose a file that may be read and written.',
    })
  }
}

/** Follows symbolic links, also one that leads to a file which is not there yet. */
function realPath(file: string): string {
  mkdirSync(dirname(file), { recursive: true })
  const path = join(realpathSync(dirname(file)), basename(file))
  let target: string
  try {
    target = readlinkSync(path)
  } catch (error) {
    // EINVAL: a file that is not a link.
    if (['EINVAL', 'ENOENT', 'UNKNOWN'].includes((error as NodeJS.ErrnoException).code ?? '')) return path
    throw error
  }
  refuseLoop(path)
  return realPath(resolve(dirname(path), target))
}

/** Raises ELOOP for links that lead to themselves. */
function refuseLoop(path: string): void {
  try {
    realpathSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** Takes a lock that is free or was left behind; of several processes at the same moment only one gets it. */
function take(lock: string): boolean {
  const own = `${lock}.${randomUUID()}`
  const takeover = `${lock}.takeover`
  writeFileSync(own, `${process.pid}\n`)
  try {
    if (linkNew(own, lock)) return true
    if (isHeldByAnother(lock)) return false
    if (!linkNew(own, takeover)) {
      if (isHeldByAnother(takeover)) return false
      rmSync(takeover, { force: true })
      if (!linkNew(own, takeover)) return false
    }
    try {
      // Looks again: another process may have finished its takeover in between.
      if (isHeldByAnother(lock)) return false
      renameSync(own, lock)
      return true
    } finally {
      rmSync(takeover, { force: true })
    }
  } finally {
    rmSync(own, { force: true })
  }
}

/** Gives a file a second name in one step; false where the name is taken. */
function linkNew(from: string, to: string, copies = false): boolean {
  try {
    if (copies) copyFileSync(from, to, constants.COPYFILE_EXCL)
    else linkSync(from, to)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    if (copies || !['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code ?? '')) throw error
    // Some file systems have no links.
    return linkNew(from, to, true)
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
