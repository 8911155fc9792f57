export { figure } from "../testing/speed/edits.ts";
