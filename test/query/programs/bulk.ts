import 'reflect-metadata'
import { open } from 'skein'
import { PATIENT } from '../../server.js'
import { BULKS, KILLED } from '../killed-models.js'

/** Runs a bulk operation and sends each cursor that it reports to the process that forked this one. */
const [hosts, namespace, name] = process.argv.slice(2)
const db = await open({ hosts, namespace, entities: KILLED, ...PATIENT })
await BULKS[name](db, { onProgress: ({ cursor }) => void process.send?.(cursor ?? 'done') })
await db.close()
process.disconnect?.()
