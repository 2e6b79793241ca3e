import { parentPort } from 'node:worker_threads'
import type { SkeinError } from '#src/errors/index.js'

await import('#src/driver/connect.js').catch((error: SkeinError) => parentPort!.postMessage(error.code))
