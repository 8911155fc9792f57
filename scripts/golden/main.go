// Renders the cases of locallm/src/template with Go's own text/template and writes the results.
//
//	cd scripts/golden && go run . ../../locallm/src/template
//
// It reads go/golden/cases.json and known/golden/cases.json, and writes expected.json in the same folders.
// known-cases.ts writes the second cases.json.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"
)

// File holds templates and their data. The data is plain JSON, or the name of a conversation in the form that
// model templates get.
type File struct {
	Data  any             `json:"data"`
	Chats map[string]Chat `json:"chats"`
	Cases []Case          `json:"cases"`
}

type Case struct {
	Name     string `json:"name"`
	Template string `json:"template"`
	Chat     string `json:"chat"`
}

type Chat struct {
	System   string    `json:"system"`
	Prompt   string    `json:"prompt"`
	Suffix   string    `json:"suffix"`
	Response string    `json:"response"`
	Messages []Message `json:"messages"`
	Tools    Tools     `json:"tools"`
	Think    bool      `json:"think"`
	Level    string    `json:"thinkLevel"`
	ThinkSet bool      `json:"isThinkSet"`
}

type Message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	Thinking   string     `json:"thinking"`
	Images     []string   `json:"images"`
	ToolCalls  []ToolCall `json:"tool_calls"`
	ToolName   string     `json:"tool_name"`
	ToolCallID string     `json:"tool_call_id"`
}

type ToolCall struct {
	ID       string           `json:"id"`
	Function ToolCallFunction `json:"function"`
}

type ToolCallFunction struct {
	Index     int       `json:"index"`
	Name      string    `json:"name"`
	Arguments Arguments `json:"arguments"`
}

// Arguments is a map that prints as JSON, in the order in which it was sent.
type Arguments map[string]any

func (a *Arguments) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, (*map[string]any)(a)); err != nil {
		return err
	}
	raws[encode(map[string]any(*a))] = compact(data)
	return nil
}

func (a Arguments) MarshalJSON() ([]byte, error) { return []byte(raws[encode(map[string]any(a))]), nil }
func (a Arguments) String() string               { return encode(a) }

// raws maps each decoded value, encoded again, to the JSON that the client sent. The JSON cannot be stored in
// a field of the struct, because the field would be printed too.
var raws = map[string]string{}

// Tool marshals to the JSON that the client sent.
type Tool struct {
	Type     string       `json:"type"`
	Function ToolFunction `json:"function"`
}

func (t *Tool) UnmarshalJSON(data []byte) error {
	type plain Tool
	if err := json.Unmarshal(data, (*plain)(t)); err != nil {
		return err
	}
	raws[encode(plain(*t))] = compact(data)
	return nil
}

func (t Tool) MarshalJSON() ([]byte, error) {
	type plain Tool
	return []byte(raws[encode(plain(t))]), nil
}
func (t Tool) String() string { return encode(t) }

type Tools []Tool

func (t Tools) String() string { return encode([]Tool(t)) }

type ToolFunction struct {
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Parameters  Parameters `json:"parameters"`
}

func (f *ToolFunction) UnmarshalJSON(data []byte) error {
	type plain ToolFunction
	if err := json.Unmarshal(data, (*plain)(f)); err != nil {
		return err
	}
	raws[encode(plain(*f))] = compact(data)
	return nil
}

func (f ToolFunction) MarshalJSON() ([]byte, error) {
	type plain ToolFunction
	return []byte(raws[encode(plain(f))]), nil
}

type Parameters struct {
	Type       any            `json:"type"`
	Defs       any            `json:"$defs"`
	Items      any            `json:"items"`
	Required   []string       `json:"required"`
	Properties map[string]any `json:"properties"`
}

func (p *Parameters) UnmarshalJSON(data []byte) error {
	type plain Parameters
	if err := json.Unmarshal(data, (*plain)(p)); err != nil {
		return err
	}
	raws[encode(plain(*p))] = compact(data)
	return nil
}

func (p Parameters) MarshalJSON() ([]byte, error) {
	type plain Parameters
	return []byte(raws[encode(plain(p))]), nil
}

func compact(data []byte) string {
	var out bytes.Buffer
	if err := json.Compact(&out, data); err != nil {
		panic(err)
	}
	return out.String()
}

func encode(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(data)
}

var now = time.Date(2026, time.March, 1, 9, 5, 0, 0, time.UTC)

var functions = template.FuncMap{
	"json":          encode,
	"currentDate":   func(...any) string { return now.Format("2006-01-02") },
	"yesterdayDate": func(...any) string { return now.AddDate(0, 0, -1).Format("2006-01-02") },
	"toTypeScriptType": func(value any) string {
		return typeScript(value)
	},
}

func typeScript(value any) string {
	property, ok := value.(map[string]any)
	if !ok {
		return "any"
	}
	if choices, ok := property["anyOf"].([]any); ok && len(choices) > 0 {
		names := []string{}
		for _, choice := range choices {
			names = append(names, typeScript(choice))
		}
		return strings.Join(names, " | ")
	}
	types, ok := property["type"].([]any)
	if !ok {
		types = []any{property["type"]}
	}
	names := []string{}
	for _, kind := range types {
		switch kind {
		case "string":
			names = append(names, "string")
		case "number", "integer":
			names = append(names, "number")
		case "boolean":
			names = append(names, "boolean")
		case "array":
			names = append(names, "any[]")
		case "object":
			names = append(names, "Record<string, any>")
		case "null":
			names = append(names, "null")
		default:
			names = append(names, "any")
		}
	}
	return strings.Join(names, " | ")
}

// render returns the text, or the stage that failed.
func render(c Case, file File) (string, string) {
	parsed, err := template.New("").Option("missingkey=zero").Funcs(functions).Parse(c.Template)
	if err != nil {
		return "", "parse"
	}
	data := file.Data
	if c.Chat != "" {
		data = variables(file.Chats[c.Chat])
	}
	var out strings.Builder
	if err := parsed.Execute(&out, data); err != nil {
		return "", "execute"
	}
	// Missing values of model templates print as nothing instead of "<no value>".
	return strings.ReplaceAll(out.String(), "<no value>", ""), ""
}

func variables(chat Chat) map[string]any {
	return map[string]any{
		"System": chat.System, "Prompt": chat.Prompt, "Suffix": chat.Suffix, "Response": chat.Response,
		"Messages": chat.Messages, "Tools": chat.Tools,
		"Think": chat.Think, "ThinkLevel": chat.Level, "IsThinkSet": chat.ThinkSet,
	}
}

func main() {
	for _, folder := range []string{"go/golden", "known/golden"} {
		path := filepath.Join(os.Args[1], folder)
		data, err := os.ReadFile(filepath.Join(path, "cases.json"))
		if os.IsNotExist(err) {
			continue
		} else if err != nil {
			panic(err)
		}
		var file File
		if err := json.Unmarshal(data, &file); err != nil {
			panic(err)
		}
		expected := map[string]any{}
		for _, c := range file.Cases {
			text, failed := render(c, file)
			if failed != "" {
				expected[c.Name] = map[string]string{"fails": failed}
			} else {
				expected[c.Name] = text
			}
		}
		out, err := json.MarshalIndent(expected, "", " ")
		if err != nil {
			panic(err)
		}
		if err := os.WriteFile(filepath.Join(path, "expected.json"), append(out, '\n'), 0o644); err != nil {
			panic(err)
		}
		fmt.Println(path, len(expected))
	}
}
