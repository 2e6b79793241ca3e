import { isMainThread } from 'node:worker_threads'
import { SkeinError } from '../errors/index.js'

// Imported before the client: loaded in a second thread it fails or, when used, ends the whole process.
if (!isMainThread) {
  throw new SkeinError('SKEIN_4106', 'The Aerospike client does not work in a worker thread.', {
    fix: 'Open the database on the main thread, or in a child process; run tests in processes instead of threads.',
  })
}
