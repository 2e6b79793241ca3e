import { defineConfig, globalIgnores } from 'eslint/config'
import tseslint from 'typescript-eslint'
import importX from 'eslint-plugin-import-x'

// Data flows one way (docs/internals/architecture.md): each folder may import only the folders named here.
const MAY_IMPORT = {
  errors: [],
  embedded: ['errors'],
  keys: ['errors'],
  model: ['errors', 'keys'],
  decorators: ['errors', 'keys', 'model'],
  plan: ['errors', 'keys', 'model'],
  codec: ['errors', 'keys', 'model', 'plan'],
  driver: ['errors', 'keys', 'plan'],
  relations: ['errors', 'keys', 'model', 'codec', 'plan'],
  query: ['errors', 'keys', 'model', 'codec', 'plan', 'driver'],
  records: ['errors', 'keys', 'model', 'codec', 'plan'],
  session: ['errors', 'keys', 'model', 'codec', 'plan', 'driver', 'relations', 'records', 'query', 'embedded'],
}
const folders = Object.keys(MAY_IMPORT)
const zones = folders.map((folder) => ({
  target: `./src/${folder}`,
  from: [...folders.filter((other) => other !== folder && !MAY_IMPORT[folder].includes(other)), 'cli', 'index.ts'].map(
    (other) => `./src/${other}`,
  ),
  message: `src/${folder} may import only: ${MAY_IMPORT[folder].join(', ') || 'nothing'}.`,
}))

export default defineConfig(
  globalIgnores(['dist', '.build', 'coverage', 'test/golden/*.mjs', 'test/setups/*/**', 'test/types/refused/**']),
  tseslint.configs.recommendedTypeChecked,
  {
    plugins: { 'import-x': importX },
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['eslint.config.js', 'scripts/*.js'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      'import-x/no-restricted-paths': ['error', { zones }],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/driver/**'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { paths: [{ name: 'aerospike', message: 'Only src/driver talks to the client.', allowTypeImports: false }] },
      ],
    },
  },
  {
    files: ['test/**/*.ts', 'examples/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/require-await': 'off',
    },
  },
  { files: ['**/*.js', '**/*.mjs'], extends: [tseslint.configs.disableTypeChecked] },
)
