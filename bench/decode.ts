export { figure } from "../testing/speed/decode.ts";
