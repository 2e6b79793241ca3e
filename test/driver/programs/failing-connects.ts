import { SkeinError } from '#src/errors/index.js'
import { connect } from '#src/driver/connect.js'

// Fails to connect in two ways and then has nothing left to do: the process must end.
const [hosts] = process.argv.slice(2)
const codes: string[] = []
for (const options of [{ hosts: '127.0.0.1:1' }, { hosts }]) {
  await connect({ ...options, namespaces: ['nope'] }).catch((error: SkeinError) => codes.push(error.code))
}
console.log(codes.join(' '))
process.disconnect?.()
