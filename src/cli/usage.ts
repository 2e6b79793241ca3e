export const USAGE = `Usage: skein <command> [options]

Commands
  serve    run the embedded Aerospike server until it is stopped (Ctrl+C)

Options of serve
  -p, --port <number>        the port to listen on; 0 takes any free one (default 3000)
  -n, --namespace <name:mode>
                             a namespace; mode is sc (strongly consistent) or ap (available);
                             repeat it for more (default test:sc)
  -d, --data <directory>     keep the data in a file there, so that it is back after a restart;
                             for development only (default: nothing is kept)

Options
  -h, --help                 print this text
  -v, --version              print the version

Example
  skein serve --port 3100 --namespace test:sc --namespace cache:ap
`

/** The command line is wrong; the message says how to put it right. */
export class UsageError extends Error {}
