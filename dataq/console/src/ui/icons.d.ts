declare module "~icons/lucide/*" {
  const icon: ReturnType<typeof import("./icon.ts").drawn>;
  export default icon;
}
