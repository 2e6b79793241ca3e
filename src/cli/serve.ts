import { join } from 'node:path'
import { startEmbedded, type EmbeddedServer } from '../embedded/index.js'
import { SkeinError } from '../errors/index.js'
import { UsageError } from './usage.js'

const DATA_FILE = 'skein.data'

/** Options of the command. */
interface ServeOptions {
  readonly port: number
  readonly namespaces: readonly string[]
  /** The directory of the data file; without one nothing is kept. */
  readonly data?: string
}

/** Runs the embedded server until the process is told to stop. */
export async function serve(options: ServeOptions): Promise<void> {
  const stopped = stopSignal()
  const server = await start(options)
  console.log(`listening on ${server.hosts}`)
  const reason = await Promise.race([stopped, server.ended])
  if (reason instanceof Error) throw reason
  if (reason !== undefined) console.log(`stopping on ${reason}`)
  await server.stop()
}

async function start({ port, namespaces, data }: ServeOptions): Promise<EmbeddedServer> {
  try {
    const file = data === undefined ? undefined : join(data, DATA_FILE)
    return await startEmbedded({ port, namespaces, file })
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error
    if (error.code === 'SKEIN_2320') throw new UsageError(error.message)
    const { code } = (error.cause ?? {}) as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') throw new UsageError(`Port ${port} is in use. Choose another with --port, or 0 for any.`)
    if (code === 'EACCES' && error.code === 'SKEIN_4107')
      throw new UsageError(`Port ${port} may not be used. Choose one above 1023 with --port.`)
    throw error
  }
}

/** A second signal finds no listener and ends the process at once. */
function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(signal))
  })
}
