/**
 * Server that an example runs on: an embedded server that `open` starts along, or, with `AEROSPIKE_HOSTS` set, on that cluster in the namespace
 * of `AEROSPIKE_NAMESPACE` (`test`). There it takes its sets to be empty.
 */
export function where(): { readonly embedded?: true; readonly hosts?: string; readonly namespace: string } {
  const { AEROSPIKE_HOSTS: hosts = '', AEROSPIKE_NAMESPACE: namespace = 'test' } = process.env
  return hosts === '' ? { embedded: true, namespace: 'test' } : { hosts, namespace }
}
