import type { MemberNode } from '../cluster/cluster.js'
import type { Store } from '../store/store.js'
import { clusterInfo } from './cluster-info.js'
import { namespaceInfo } from './namespace-info.js'
import { queryInfo } from './query-info.js'
import { sindexInfo } from './sindex-info.js'
import { truncateInfo } from './truncate-info.js'

/** Answers one info command; undefined: the command is another's. `name` is what stands before the parameters. */
type InfoCommands = (store: Store, name: string, argument: string, node: MemberNode) => string | undefined

const COMMANDS: readonly InfoCommands[] = [clusterInfo, namespaceInfo, sindexInfo, queryInfo, truncateInfo]

/** Answer to an info request without names. */
const EVERYTHING = [
  'node',
  'build',
  'edition',
  'version',
  'features',
  'namespaces',
  'partitions',
  'service',
  'statistics',
]

/** Longer requests would keep the other clients waiting; the longest honest one creates an index on an expression. */
const MAX_REQUEST = 2 * 1024 * 1024
const MAX_LINES = 1000

/** Every line is echoed with its answer: clients match answers by name. */
export function answerInfo(store: Store, request: string, node: MemberNode): string {
  if (request.length > MAX_REQUEST) return tooLong(request)
  const asked = request.split('\n').filter((line) => line !== '')
  if (asked.length > MAX_LINES) return tooLong(asked[0])
  const lines = asked.length > 0 ? asked : EVERYTHING
  return lines.map((line) => `${line}\t${answerLine(store, line, node)}\n`).join('')
}

function tooLong(request: string): string {
  return `${request.slice(0, 64).split('\n', 1)[0]}\tERROR:4:the request is too long\n`
}

function answerLine(store: Store, line: string, node: MemberNode): string {
  const split = line.search(/[:/]/)
  const name = split < 0 ? line : line.slice(0, split)
  const argument = split < 0 ? '' : line.slice(split + 1)
  for (const command of COMMANDS) {
    const answer = command(store, name, argument, node)
    if (answer !== undefined) return answer
  }
  return 'ERROR:4:unrecognized command'
}
