import { registerHooks } from "node:module";

// It offers its TypeScript under the condition "source", which tests run our own packages with.
registerHooks({
  resolve: (specifier, context, next) =>
    next(
      specifier,
      specifier.startsWith("@arethetypeswrong/") ? { ...context, conditions: ["node", "import"] } : context,
    ),
});

export const { checkPackage, createPackageFromTarballData } = await import("@arethetypeswrong/core");
