import { parseArgs } from 'node:util'
import { UsageError } from './usage.js'

/** A parsed command line. */
type Command =
  | { readonly name: 'help' }
  | { readonly name: 'version' }
  | { readonly name: 'serve'; readonly port: number; readonly namespaces: readonly string[]; readonly data?: string }

const DEFAULT_PORT = 3000
const DEFAULT_NAMESPACES = ['test:sc']

export function parseCommandLine(args: readonly string[]): Command {
  const { values, positionals } = parse(args)
  if (values.help) return { name: 'help' }
  if (values.version) return { name: 'version' }
  const [command, ...rest] = positionals
  if (command === undefined) throw new UsageError('No command is given.')
  if (command !== 'serve') throw new UsageError(`There is no command "${command}".`)
  if (rest.length > 0) throw new UsageError(`serve takes only options, not "${rest[0]}".`)
  const namespaces = values.namespace ?? DEFAULT_NAMESPACES
  const port = values.port === undefined ? DEFAULT_PORT : parsePort(values.port)
  if (values.data === '') throw new UsageError('--data needs a directory.')
  return { name: 'serve', port, namespaces, data: values.data }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        port: { type: 'string', short: 'p' },
        namespace: { type: 'string', short: 'n', multiple: true },
        data: { type: 'string', short: 'd' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
      },
    })
  } catch (error) {
    throw new UsageError(firstSentence(String((error as Error).message)))
  }
}

function parsePort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65535) {
    throw new UsageError(`"${text}" is not a port. Use a number from 0 to 65535; 0 takes any free port.`)
  }
  return Number(text)
}

/** Node adds hints on positional arguments that would mislead here. */
function firstSentence(text: string): string {
  return `${text.split('. ')[0].replace(/\.$/, '')}.`
}
