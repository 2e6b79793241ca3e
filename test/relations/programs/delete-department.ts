import 'reflect-metadata'
import { open } from 'skein'
import { COMPANY, Department } from '../departments.js'

// Deletes department 1 of the server at argv[2], namespace argv[3]; the test decides how far it comes.
const [, , hosts, namespace] = process.argv
const db = await open({ hosts, namespace, entities: COMPANY })
await db.session().delete(Department, 1)
await db.close()
