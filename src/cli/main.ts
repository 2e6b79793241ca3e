#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { SkeinError } from '../errors/index.js'
import { parseCommandLine } from './parse-command-line.js'
import { serve } from './serve.js'
import { USAGE, UsageError } from './usage.js'

const USAGE_EXIT_CODE = 2
const FAILURE_EXIT_CODE = 1

async function main(args: readonly string[]): Promise<void> {
  const command = parseCommandLine(args)
  switch (command.name) {
    case 'help':
      process.stdout.write(USAGE)
      return
    case 'version':
      console.log(packageVersion())
      return
    case 'serve':
      return serve(command)
  }
}

function packageVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  if (error instanceof UsageError) {
    console.error(`skein: ${error.message}\nTry "skein --help".`)
    process.exitCode = USAGE_EXIT_CODE
  } else if (error instanceof SkeinError) {
    console.error(`skein: ${error.message}`)
    process.exitCode = FAILURE_EXIT_CODE
  } else throw error
}
