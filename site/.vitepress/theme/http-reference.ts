import { useData, withBase } from "vitepress";
import { computed, defineComponent, h, onMounted, type PropType, ref, shallowRef } from "vue";
import Credentials from "./credentials.ts";
import Sender from "./sender.ts";
import { findService, type Product, product as serving } from "./service.ts";
import { useWords } from "./words.ts";

/** As much of OpenAPI as both products write. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly description?: string;
  readonly "x-zh"?: string;
  readonly examples?: readonly unknown[];
}
interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly description?: string;
  readonly "x-zh"?: string;
  readonly schema: Schema;
}
interface Media {
  readonly schema?: Schema;
  readonly example?: unknown;
}
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly "x-zh"?: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}
interface Description {
  readonly info: { readonly title: string };
  readonly tags: readonly { readonly name: string; readonly description: string; readonly "x-zh"?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas?: Readonly<Record<string, Schema>> };
}
interface Route extends Operation {
  readonly method: string;
  readonly path: string;
}

/** The Chinese text of a part of the description if the page is Chinese and there is one, otherwise the English one. */
function useTexts(): (part: { readonly "x-zh"?: string }, english: string | undefined) => string {
  const { lang } = useData();
  return (part, english = "") => (lang.value === "zh-CN" && part["x-zh"]) || english;
}

const ports: Readonly<Record<Product, number>> = { dataq: 11435, locallm: 11434 };

/**
 * Every route of the product that serves this page, from its own description, to read and to send. On other sites the
 * page's own table of routes stays.
 */
export default defineComponent({
  props: { product: { type: String as PropType<Product>, required: true } },
  setup(props) {
    const word = useWords();
    const textOf = useTexts();
    const { lang } = useData();
    const description = shallowRef<Description>();
    const isElsewhere = ref(false);
    const wanted = ref("");

    onMounted(async () => {
      await findService();
      const answer = serving.value === props.product ? await fetch("/openapi.json") : undefined;
      if (answer?.ok) description.value = await answer.json();
      else isElsewhere.value = true;
    });

    const routes = computed<Route[]>(() =>
      Object.entries(description.value?.paths ?? {}).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({
          ...operation,
          path,
          method: method.toUpperCase(),
        })),
      ),
    );
    const isWanted = ({ method, path, summary, "x-zh": zh = "" }: Route) =>
      `${method} ${path} ${summary} ${zh}`.toLowerCase().includes(wanted.value.trim().toLowerCase());

    return () => {
      if (isElsewhere.value) {
        const below = lang.value === "zh-CN" ? "/zh" : "";
        const address = `http://127.0.0.1:${ports[props.product]}${withBase(`${below}/${props.product}/reference`)}`;
        return h("p", { class: "http-reference elsewhere" }, [
          word("referenceElsewhere").replace("{product}", props.product),
          " ",
          h("a", { href: address }, address),
        ]);
      }
      if (description.value === undefined) return h("p", { class: "http-reference" }, word("loading"));
      const { tags, components } = description.value;
      return h("div", { class: "http-reference live" }, [
        h(Credentials),
        h("p", h("a", { href: "/openapi.json", target: "_blank" }, "openapi.json")),
        h("input", {
          type: "search",
          class: "filter",
          placeholder: word("filterRoutes"),
          "aria-label": word("filterRoutes"),
          value: wanted.value,
          onInput: (event: Event) => (wanted.value = (event.target as HTMLInputElement).value),
        }),
        ...tags.map((tag) => {
          const shown = routes.value.filter((route) => route.tags.includes(tag.name) && isWanted(route));
          if (shown.length === 0) return null;
          return h("section", { key: tag.name }, [
            h("h2", { id: `tag-${tag.name.replaceAll("/", "")}` }, textOf(tag, tag.description)),
            ...shown.map((route) =>
              h(RouteView, {
                key: `${route.method} ${route.path}`,
                route,
                schemas: components.schemas ?? {},
              }),
            ),
          ]);
        }),
      ]);
    };
  },
});

/** One route: closed it is a line, opened it shows parameters and a form. */
const RouteView = defineComponent({
  props: {
    route: { type: Object as PropType<Route>, required: true },
    schemas: { type: Object as PropType<Readonly<Record<string, Schema>>>, required: true },
  },
  setup({ route, schemas }) {
    const word = useWords();
    const textOf = useTexts();
    const { parameters = [] } = route;
    const isOpen = ref(false);
    const nameOf = ($ref: string) => $ref.replace("#/components/schemas/", "");
    const resolve = (schema: Schema): Schema =>
      schema.$ref === undefined ? schema : (schemas[nameOf(schema.$ref)] ?? {});
    const media = route.requestBody?.content["application/json"];
    const variants = media?.schema?.oneOf ?? [];
    const names = variants.map(({ $ref = "" }) => nameOf($ref).replace(".request", ""));
    const variant = ref(0);
    const bodySchema = computed(() =>
      media?.schema === undefined ? undefined : resolve(variants[variant.value] ?? media.schema),
    );
    const exampleText = () => {
      const example = media?.example ?? bodySchema.value?.examples?.[0];
      if (example !== undefined) return JSON.stringify(example, null, 2);
      return bodySchema.value === undefined
        ? ""
        : JSON.stringify(skeletonOf(bodySchema.value, resolve), null, 2);
    };
    const body = ref("");
    const values = ref<Record<string, string>>({});

    function open(event: Event): void {
      if (isOpen.value || !(event.target as HTMLDetailsElement).open) return;
      body.value = exampleText();
      isOpen.value = true;
    }

    function call() {
      const given = (place: Parameter["in"]) =>
        parameters.filter((parameter) => parameter.in === place && values.value[parameter.name]);
      let path = route.path;
      for (const { name } of given("path"))
        path = path.replace(`{${name}}`, encodeURIComponent(values.value[name]!));
      const query = new URLSearchParams(given("query").map(({ name }) => [name, values.value[name]!]));
      const headers = Object.fromEntries(given("header").map(({ name }) => [name, values.value[name]!]));
      return {
        method: route.method,
        path: query.size === 0 ? path : `${path}?${query}`,
        headers,
        body: media === undefined || body.value.trim() === "" ? undefined : body.value,
      };
    }

    function parameterText(parameter: Parameter) {
      const text = textOf(parameter, parameter.description);
      return text === "" ? null : h("small", text);
    }

    const table = (rows: readonly Row[]) =>
      h("table", [
        h("thead", h("tr", [h("th", word("field")), h("th", word("type")), h("th", word("meaning"))])),
        h(
          "tbody",
          rows.map(({ name, type, isRequired, schema }) =>
            h("tr", [
              h("td", [h("code", name), isRequired ? h("small", ` ${word("required")}`) : null]),
              h("td", type),
              h("td", textOf(schema, schema.description)),
            ]),
          ),
        ),
      ]);

    function content() {
      return [
        parameters.length === 0
          ? null
          : h(
              "div",
              { class: "parameters" },
              parameters.map((parameter) =>
                h("label", [
                  h("code", parameter.name),
                  h("small", [
                    ` ${typeOf(parameter.schema, resolve)}${parameter.required ? `, ${word("required")}` : ""} `,
                  ]),
                  h("input", {
                    value: values.value[parameter.name] ?? "",
                    autocomplete: "off",
                    onInput: (event: Event) =>
                      (values.value[parameter.name] = (event.target as HTMLInputElement).value),
                  }),
                  parameterText(parameter),
                ]),
              ),
            ),
        names.length < 2
          ? null
          : h("label", { class: "variant" }, [
              `${word("operation")} `,
              h(
                "select",
                {
                  value: variant.value,
                  onChange: (event: Event) => {
                    variant.value = Number((event.target as HTMLSelectElement).value);
                    body.value = exampleText();
                  },
                },
                names.map((name, index) => h("option", { value: index }, name)),
              ),
            ]),
        bodySchema.value === undefined
          ? null
          : h("details", { class: "fields" }, [
              h("summary", word("fields")),
              table(rowsOf(bodySchema.value, resolve)),
            ]),
        media === undefined
          ? null
          : h("label", { class: "body" }, [
              word("body"),
              h("textarea", {
                value: body.value,
                rows: Math.min(18, body.value.split("\n").length + 1),
                spellcheck: false,
                onInput: (event: Event) => (body.value = (event.target as HTMLTextAreaElement).value),
              }),
            ]),
        h(Sender, { calls: () => [call()] }),
        h("p", { class: "statuses" }, [
          `${word("answers")} `,
          ...Object.keys(route.responses)
            .filter((status) => status !== "default")
            .flatMap((status) => [h("code", { title: route.responses[status]!.description }, status), " "]),
        ]),
      ];
    }

    return () =>
      h("details", { class: "route", onToggle: open }, [
        h("summary", [
          h("code", { class: `method ${route.method.toLowerCase()}` }, route.method),
          h("code", { class: "path" }, route.path),
          h("span", textOf(route, route.summary)),
        ]),
        isOpen.value ? h("div", { class: "inside" }, content()) : null,
      ]);
  },
});

interface Row {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly schema: Schema;
}

type Resolve = (schema: Schema) => Schema;
const deepest = 3;

/** The fields of an object and of the objects in it, by their paths. */
function rowsOf(schema: Schema, resolve: Resolve, prefix = "", depth = 0): Row[] {
  const { properties = {}, required = [] } = bare(schema, resolve);
  return Object.entries(properties).flatMap(([name, given]) => {
    const inner = bare(given, resolve);
    const isList = inner.items !== undefined;
    const path = `${prefix}${name}${isList ? "[]" : ""}`;
    const row = {
      name: `${prefix}${name}`,
      type: typeOf(given, resolve),
      isRequired: required.includes(name),
      schema: given.description === undefined ? inner : given,
    };
    const below = isList ? inner.items! : inner;
    return depth >= deepest ? [row] : [row, ...rowsOf(below, resolve, `${path}.`, depth + 1)];
  });
}

/** A schema without "or null", which stands for an absent field. */
function bare(given: Schema, resolve: Resolve): Schema {
  const schema = resolve(given);
  const choices = schema.anyOf?.filter(({ type }) => type !== "null");
  return choices?.length === 1 ? bare(choices[0]!, resolve) : schema;
}

function typeOf(given: Schema, resolve: Resolve): string {
  const schema = bare(given, resolve);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) {
    const shown = schema.enum.slice(0, 8).map((value) => JSON.stringify(value));
    return `${shown.join(" | ")}${schema.enum.length > 8 ? " | …" : ""}`;
  }
  const choices = (schema.anyOf ?? schema.oneOf ?? []).filter(({ type }) => type !== "null");
  if (choices.length > 0) return [...new Set(choices.map((choice) => typeOf(choice, resolve)))].join(" | ");
  if (schema.items !== undefined) return `${typeOf(schema.items, resolve)}[]`;
  const type = [schema.type ?? "any"]
    .flat()
    .filter((name) => name !== "null")
    .join(" | ");
  const { minimum, maximum } = schema;
  const isBounded = (value: number | undefined): value is number =>
    value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER;
  if (isBounded(minimum) && isBounded(maximum)) return `${type}, ${minimum}–${maximum}`;
  return isBounded(minimum) ? `${type}, ≥ ${minimum}` : isBounded(maximum) ? `${type}, ≤ ${maximum}` : type;
}

/** A body with the required fields, for routes without an example. */
function skeletonOf(schema: Schema, resolve: Resolve): unknown {
  const { properties = {}, required = [] } = bare(schema, resolve);
  return Object.fromEntries(
    required.map((name) => {
      const inner = bare(properties[name] ?? {}, resolve);
      if (inner.const !== undefined) return [name, inner.const];
      if (inner.enum !== undefined) return [name, inner.enum[0]];
      if (inner.items !== undefined) return [name, []];
      if (inner.properties !== undefined) return [name, skeletonOf(inner, resolve)];
      const isNumber = [inner.type].flat().some((type) => type === "integer" || type === "number");
      return [name, isNumber ? (inner.minimum ?? 1) : "…"];
    }),
  );
}
