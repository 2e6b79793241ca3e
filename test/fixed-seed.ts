import fc from 'fast-check'

// A run that fails must fail again. SKEIN_SEED=$RANDOM looks elsewhere.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.SKEIN_SEED ?? 20261116) })
