#include "jinja_constructs.h"

namespace nyb::test {
namespace {

// Each in {{ }}.
constexpr const char* kExpressions[] = {
    // literals and printing
    "1", "-1", "1.0", "1.5", "-0.0", "0.1 + 0.2", "100000000000000000000", "1e3", "'a' 'b'", "\"it's\"",
    "'\\n\\t\\'\\\\\\x41\\u00e9'", "'\\ud83d\\ude00'", "true", "false", "none", "True", "None", "missing",
    "[1, 'a', none, true, 2.0]", "{'a': 1, 'b': [1, {'c': 2}]}", "[]", "{}", "n", "f", "t", "none_", "list", "d", "'\U0001f600'",
    // members, indices and slices
    "d.k", "d['k']", "d.in.x[1]", "d.missing", "d.missing.more", "missing.more", "list[0]", "list[-1]", "list[9]", "list[-9]",
    "list.length", "list.0", "[[1, 2], 3].0.1", "s[1]", "s[-2]", "s[99]", "s.length", "missing[0]", "d[0]", "n.x", "list[1:]",
    "list[:-1]", "list[::2]", "list[::-1]", "list[3:1]", "list[-2:]", "list[4:0:-2]", "list[-9::-1]", "list[9::-2]", "s[1:4]",
    "s[::-1]", "s[:99]", "'abc'[-2:]", "'h\u00e9llo'[1:3]", "list['a']", "list[1.5]",
    // operators
    "1 + 2 * 3", "(1 + 2) * 3", "7 / 2", "6 / 2", "7 // 2", "-7 // 2", "7 % 3", "-7 % 3", "2 ** 3", "2 ** -1", "2 ** 3 ** 2",
    "-2 ** 2", "1 - 2 - 3", "1 + 1.0", "2 * 1.5", "n - -1", "n -1", "'a' + 'b'", "'a' + 1", "1 + 'a'", "'a' + 1.0",
    "'a' ~ 1 ~ 2.0 ~ true", "'a' ~ none", "'a' ~ missing", "'a' + missing", "none + 1", "[1] + [2, 3]", "[1] + 'a'", "true + 1",
    "t - 1", "'a' * 2", "1 < 2", "2 <= 2", "2 > 3", "3 >= 3.0", "'a' < 'b'", "1 == 1.0", "1 == '1'", "'a' == 'a'", "'a' != 'b'",
    "none == missing", "true == 1", "[1] == [1]", "list == list", "d == d", "'' == 0", "'a' == none", "1 in [1, 2]",
    "'1' in [1, 2]", "'a' in 'cat'", "'' in 'cat'", "'k' in d", "'z' not in d", "3 not in list", "'a' in missing",
    "missing in list", "1 in 'a1'", "n in d", "not t", "not not n", "not missing", "t and n", "n and 0", "0 or 'x'",
    "missing or 'y'", "none or none", "t and not n == 3", "'a' in 'abc' and 'b' not in 'xyz'", "-n", "+n", "-t", "- 'a'",
    "1 if t else 2", "1 if missing else 2", "1 if missing", "1 if false else 2 if false else 3", "n == 3 and f > 2 or none",
    "not n in [1]", "(n if t else f) + 1",
    // tests
    "n is defined", "missing is defined", "missing is not defined", "missing is undefined", "none_ is none", "none_ is defined",
    "s is string", "n is string", "n is number", "f is number", "f is integer", "n is integer", "t is boolean", "n is boolean",
    "t is true", "t is false", "1 is true", "d is mapping", "list is mapping", "list is iterable", "s is iterable", "d is iterable",
    "(1, 2) is iterable", "list is sequence", "d is sequence", "n is sequence", "3 is odd", "4 is even", "'a' is odd",
    "'abc' is lower", "'ABC' is upper", "'aB' is lower", "range is callable", "n is callable", "n is nonsense",
    "d.k is defined and d.k is string", "not d.z is defined", "namespace() is mapping", "n is not none",
    // filters
    "s | trim", "s | upper", "s | lower", "'hello wORLD it\\'s' | title", "'hELLO' | capitalize", "s | length", "list | length",
    "d | length", "n | length", "missing | length", "s | tojson", "'\"\\\\/\\b\\f\\n\\r\\t\\x01\\x7f\u00e9\U0001f600' | tojson",
    "d | tojson", "list | tojson", "1.0 | tojson", "missing | tojson", "none | tojson", "d | tojson(indent=2)",
    "[] | tojson(indent=2)", "d | tojson(separators=(',', ':'))", "s | tojson(ensure_ascii=true)",
    "{'b': 1, 'a': 2} | tojson(sort_keys=true)", "[[], {}] | tojson(indent=1)", "list | join", "list | join(', ')",
    "words | join(separator='-')", "'abc' | join('-')", "[1.0, true, none] | join('|')", "n | join(',')", "words | sort | join",
    "words | sort(reverse=true) | join", "words | sort(false, true) | join", "['b', 'A', 'a', 'B'] | sort | join",
    "[3, 1, 2] | sort", "list | sort", "people | sort(attribute='age') | map(attribute='name') | join(',')", "list | unique",
    "words | reverse | list", "list | first", "list | last", "list | list", "words | list", "list | string", "n | string",
    "f | string", "2.0 | string", "t | string", "s | string", "'12' | int", "'+12' | int", "'+1.5' | float", "' 12x' | int",
    "'x' | int", "'x' | int(7)", "'-3.7' | int", "'3.7' | float", "'x' | float(1.5)", "3.7 | int", "-3.7 | int", "t | int",
    "n | float", "none | int", "-3 | abs", "-3.5 | abs", "missing | default('x')", "'' | default('x')", "'' | default('x', true)",
    "'' | default('x', boolean=true)", "none | default('x')", "n | default('x')", "missing | default(none)",
    "'a b a' | replace('a', 'c')", "'aaa' | replace('a', 'b', 2)", "'aaa' | replace('a', 'b', count=1)", "'ab' | replace('', '-')",
    "'a.b' | replace('.', '*')", "'a' | replace('b')", "'a\\n\\nb\\nc' | indent", "'a\\n\\nb' | indent(2)",
    "'a\\n\\nb' | indent(2, true)", "'a\\n\\nb' | indent(2, true, true)", "'a\\nb' | indent(width=1, first=true)",
    "people | selectattr('on') | list", "people | rejectattr('on') | map(attribute='name') | list",
    "people | selectattr('name', 'equalto', 'ann') | list", "people | selectattr('age', 'even') | list",
    "people | selectattr('on', 'defined') | list", "people | selectattr('zzz', 'undefined') | list", "list | selectattr('x')",
    "people | map(attribute='name') | list", "people | map(attribute='zzz', default='?') | list",
    "people | map(attribute='zzz') | join(',')", "[d] | map(attribute='in.x.1') | list", "list | map(attribute='x')", "d | items",
    "d | items | list | length", "d.items()", "d | dictsort", "{'b': 1, 'A': 2} | dictsort", "{'b': 1, 'A': 2} | dictsort(true)",
    "{'b': 1, 'A': 2} | dictsort(by='value')", "{'b': 1, 'A': 2} | dictsort(reverse=true)", "s | safe", "n | nonsense",
    "s | nonsense(1)", "n | upper", "list | upper", "'a' ~ 'b' | upper", "-3 | abs ** 2", "'x' + n | string",
    "words | first | upper", "t | bool",
    // methods
    "s.strip()", "s.lstrip()", "s.rstrip()", "'xxaxx'.strip('x')", "'\\u00a0\\ufeff a\\u3000'.strip()",
    "'\\x1ca\\u0085'.strip() | tojson", "s.upper()", "s.lower()", "'a b'.title()", "'abc'.capitalize()", "'a,b,,c'.split(',')",
    "' a  b '.split()", "'a,b,c'.split(',', 1)", "' a b  c '.split(none, 1)", "'abc'.split('')", "'abc'.split('x')",
    "'abc'.split(',')[-1]", "'a</think>b</think>c'.split('</think>')[0]", "'abc'.startswith('ab')", "'abc'.startswith(('x', 'a'))",
    "'abc'.endswith('bc')", "'abc'.endswith(['x'])", "'abc'.startswith(1)", "'abc'.startswith()", "'abab'.replace('a', 'x')",
    "'abab'.replace('a', 'x', 1)", "'a'.replace('a')", "'x'.nonsense()", "d.get('k')", "d.get('z')", "d.get('z', 5)", "d.get(1)",
    "d.keys()", "d.values()", "d.keys() | join(',')", "list.append(1)", "n.strip()", "missing.strip()",
    // functions
    "range(3)", "range(1, 3)", "range(3, 0, -1)", "range(0, 5, 2) | list", "raise_exception('no')", "raise_exception()",
    "strftime_now('%Y-%m-%d %B %b %H:%M %% %q')", "namespace(a=1).a", "namespace(d).k", "namespace(d, k=2).k", "namespace(1)",
    "missing()", "n()", "range(*[1, 3])", "namespace(**{'q': 1}).q", "namespace(a=1, a=2)"};

constexpr const char* kTemplates[] = {
    // white space
    "a {{ n }} b\n", "a\n  {% if t %}\n  b\n  {% endif %}\nc", "a  {%- if t -%}  b  {%- endif -%}  c", "a  {{- n -}}\n\n b",
    "a  {{ n }}\n b", "a {% if t %}b{% endif %}", "  {# note #}\nb", "a\n\n{#- c -#}\n\nb", "a {# c #} {%- if t %}b{% endif %}",
    "a {# c #}{%- if t %}b{% endif %}", "{% if t %}\n  {% if t %}b\n{% endif %}{% endif %}\n\n", "x\n", "\n\nx\n\n",
    "\t {% if t %}x{% endif %}", "{{ '}}' }}{{ \"%}\" }}{{ '{{' }}", "{{ {'a': {'b': 1}}}}", "{{ {'a': {'b': 1}} }}",
    "a { b } % {x}", "{%if t%}x{%endif%}", "{%- if t %} x {%- endif %} y", "  {-x", "a\u00a0{%- if t %}b{% endif %}",
    "{{ n }}{# {{ x }} #}{{ n }}", "{%- set x = 1 -%}\n\n  {{ x }}", "a {% generation %} b {% endgeneration %} c",
    "a {%- generation -%} b {%- endgeneration -%} c", "{% generation %}\nx\n{% endgeneration %}\ny",
    "a {% generation %} {%- endgeneration %}b",
    // conditions
    "{% if missing %}a{% elif n == 3 %}b{% else %}c{% endif %}", "{% if not t %}a{% else %}b{% endif %}",
    "{% if empty %}a{% endif %}", "{% if '' %}a{% elif 0 %}b{% elif 0.0 %}c{% elif {} %}d{% elif none %}e{% else %}f{% endif %}",
    "{% if namespace() %}a{% endif %}", "{% if t %}{% set x = 5 %}{% endif %}{{ x }}",
    // loops
    "{% for x in list %}{{ x }},{% endfor %}", "{% for x in empty %}a{% else %}none{% endfor %}",
    "{% for k in d %}{{ k }}{% endfor %}", "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% for a, b in [[1, 2], [3, 4]] %}{{ a + b }} {% endfor %}", "{% for a, b in [[1]] %}{% endfor %}",
    "{% for x in n %}{% endfor %}", "{% for x in missing %}{% endfor %}", "{% for x in s %}{% endfor %}",
    "{% for x in none_ %}{% endfor %}",
    "{% for x in words %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ "
    "loop.length }}{{ loop.previtem }}{{ loop.nextitem }}\n{% endfor %}",
    "{% for x in list if x is number %}{{ x }}{{ loop.last }}{% else %}no{% endfor %}",
    "{% for x in list if x == 99 %}{{ x }}{% else %}no{% endfor %}", "{% for x in (list if t else words) %}{{ x }}{% endfor %}",
    "{% for x in list %}{{ x }}{% if x == 1 %}{% break %}{% endif %}.{% endfor %}",
    "{% for x in list %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in [1, 2] %}{% continue %}{% else %}never{% endfor %}",
    "{% for x in [1, 2] %}{% for y in [1, 2, 3] %}{% if y == 2 %}{% break %}{% endif %}{{ x }}{{ y }} {% endfor %}{{ loop.index "
    "}}{% endfor %}",
    "{% set x = 0 %}{% for i in [1, 2, 3] %}{% set x = x + i %}{{ x }} {% endfor %}{{ x }}",
    "{% set ns = namespace(x=0) %}{% for i in [1, 2, 3] %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }}",
    "{% for x in [1] %}{% endfor %}{{ x }}{{ loop }}", "{% for x in words[::-1] %}{{ loop.index0 }}{{ x }}{% endfor %}",
    "{% for x in words | sort %}{{ x }}{% endfor %}", "{% for x in range(3) %}{{ x }}{% endfor %}",
    "{% for loop_ in [1] %}{{ loop.index }}{% endfor %}",
    // set
    "{% set x = 1 %}{{ x }}", "{% set a, b = 1, 2 %}{{ a }}{{ b }}", "{% set a, b = [1] %}", "{% set a, b = 3 %}",
    "{% set x %}a{{ n }}b{% endset %}{{ x | upper }}", "{% set x = 'a', 'b' %}{{ x[1] }}", "{% set d.k = 1 %}",
    "{% set ns = namespace(a=1) %}{% set ns.b = 2 %}{{ ns }}",
    "{% set ns = namespace(a=1) %}{% set ns.a = ns.a + 1 %}{{ ns.a }}{{ ns['a'] }}{{ ns.zzz }}",
    "{% set x = namespace(y=namespace(z=1)) %}{% set x.y.z = 2 %}{{ x.y.z }}", "{% set messages = 3 %}{{ messages }}",
    // macros
    "{% macro m(a, b=2) %}{{ a }}-{{ b }}{% endmacro %}{{ m(1) }} {{ m(1, 3) }} {{ m(b=4, a=5) }} {{ m() }}",
    "{% macro m() %} x {% endmacro %}[{{ m() }}][{{ m() | trim }}]", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(c=2) }}", "{% macro m(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ m('x') }}",
    "{% macro m() %}{{ n }}{% set n = 9 %}{{ n }}{% endmacro %}{{ m() }}{{ n }}",
    "{% macro m() %}{{ x }}{% endmacro %}{% for x in [1, 2] %}{{ m() }}{% endfor %}",
    "{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) }}",
    "{% macro m() %}<{{ caller() }}>{% endmacro %}{% call m() %}x{{ n }}{% endcall %}",
    "{% macro m() %}{{ caller(1, 2) }}{% endmacro %}{% call(a, b) m() %}{{ a }}{{ b }}{% endcall %}",
    "{% macro m(x) %}{{ x }}{{ caller() }}{% endmacro %}{% call m(x='q') %}!{% endcall %}",
    "{% macro m() %}{{ caller() }}{% endmacro %}{{ m() }}",
    "{% macro m(n) %}{{ caller() }}{% endmacro %}{% call m(7) %}{{ n }}{% endcall %}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, a=2) }}", "{{ m }}{% set m = 1 %}", "{% macro m(a, a) %}{% endmacro %}",
    "{% macro m(a=1, b) %}{% endmacro %}",
    // filter blocks and refusals
    "{% filter upper %}a{{ n }}b{% endfilter %}", "{% filter indent(2) %}a\nb{% endfilter %}",
    "{% filter nonsense %}a{% endfilter %}", "{% if n == 3 %}{{ raise_exception('x' ~ n) }}{% endif %}", "{% include 'x' %}",
    "{% if t %}", "{% for x in list %}", "{% endif %}", "{{ n", "{% if t }}", "{{ 'a }}", "{{ n n }}", "{{ }}", "{{ (n }}",
    "{{ '\\q' }}", "{{ a ! b }}", "{{ f(a=1, 2) }}", "{% set %}", "{% for x list %}{% endfor %}", "{% break %}", "{{ list[] }}",
    "{{ list[1:2:3:4] }}", "{# x", "{{ d. }}", "{{ | x }}"};

}  // namespace

std::vector<std::string> jinja_constructs() {
  std::vector<std::string> all;
  for (const char* e : kExpressions) all.push_back("<{{ " + std::string(e) + " }}>");
  for (const char* t : kTemplates) all.emplace_back(t);
  return all;
}

}  // namespace nyb::test
