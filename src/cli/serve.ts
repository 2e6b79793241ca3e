import { startEmbedded, type EmbeddedServer } from '../embedded/index.js'
import { SkeinError } from '../errors/index.js'
import { UsageError } from './usage.js'

/** Runs the embedded server until the process is told to stop. */
export async function serve(port: number, namespaces: readonly string[]): Promise<void> {
  const stopped = stopSignal()
  const server = await start(port, namespaces)
  console.log(`listening on ${server.hosts}`)
  const failure = await Promise.race([stopped, server.ended])
  if (failure) throw failure
  await server.stop()
}

async function start(port: number, namespaces: readonly string[]): Promise<EmbeddedServer> {
  try {
    return await startEmbedded({ port, namespaces })
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error
    if (error.code === 'SKEIN_2320') throw new UsageError(error.message)
    const { code } = error.cause as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') throw new UsageError(`Port ${port} is in use. Choose another with --port, or 0 for any.`)
    if (code === 'EACCES') throw new UsageError(`Port ${port} may not be used. Choose one above 1023 with --port.`)
    throw error
  }
}

/** A second signal finds no listener and ends the process at once. */
function stopSignal(): Promise<undefined> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(undefined))
  })
}
