export { figure } from "../testing/speed/prefill.ts";
