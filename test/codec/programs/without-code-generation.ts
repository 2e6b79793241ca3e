import 'reflect-metadata'
import { Bin, compileModel, Key, Record } from 'skein'
import { compileCodecs } from '#src/codec/index.js'

@Record({ set: 'agent' })
class Agent {
  @Key() id!: number
  @Bin() name!: string
}

let mayGenerate = true
try {
  eval('1')
} catch {
  mayGenerate = false
}
const codec = compileCodecs(compileModel([Agent], { namespace: 'test' })).entity(Agent)
const agent = codec.hydrate({ id: 1, name: 'Ada' })
const snapshot = codec.snapshot(agent)
agent.name = 'Eve'
console.log(JSON.stringify({ mayGenerate, agent, changes: codec.diff(agent, snapshot) }))
