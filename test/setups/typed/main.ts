import { compileModel } from 'skein'
import { Address, Agent } from './agent.js'
import { Listing } from './listing.js'

console.log(compileModel([Agent, Listing], { namespace: 'test' }).describe())

const agent = Object.assign(new Agent(), { id: 17, name: 'Ada', address: new Address('Rome') })
const listing = Object.assign(new Listing(), { id: 'r1', city: 'Rome', price: 2 })
listing.agent.set(agent)
agent.listings.add(listing)
console.log(JSON.stringify(agent))
console.log(listing.agent)
