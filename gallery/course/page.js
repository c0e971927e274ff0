"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
/* In the order of the chapters; a kernel keeps its number. */
const kernels = data.chapters.flatMap((chapter) => chapter.kernels.map((number) => data.kernels[number]));
const chapterOf = (kernel) => data.chapters.find((chapter) => chapter.kernels.includes(kernel.number));
const digits = "31415926535897932384626433832795028841971693993751058209749445923".split("").map(Number);
const $ = (id) => document.getElementById(id);

/* ---- small things ---- */

function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
}
const number = (value, places = 0) =>
    value === undefined || value === null || Number.isNaN(value)
        ? "–"
        : value.toLocaleString("en", { minimumFractionDigits: places, maximumFractionDigits: places });
const percent = (value) => (value === undefined ? "–" : number(100 * value, value > 0 && value < 0.0995 ? 1 : 0) + " %");
const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

/* ---- what was measured ---- */

/* As the course keeps it, or as tally race --json prints one race. */
function measuredRuns(measured) {
    if (measured.runs) return measured.runs;
    const plain = measured.kernels[0];
    const run = measured.kernels.filter((k) => k.seconds).map((k) => ({
        kernel: k.kernel,
        us: 1e6 * k.seconds,
        share: k.bytes / k.seconds / (plain.bytes / plain.seconds),
        registers: k.registers,
        threads: k.threads,
        resident: k.resident,
    }));
    return { [measured.shape || "whole"]: run };
}
const runs = measuredRuns(data.measured);
/* One block of a kernel, over the values that it is for: nanoseconds. */
const alone = Object.fromEntries((data.measured.alone || []).map((row) => [row.kernel, row.ns || 1e9 * row.seconds]));
const shapes = { whole: "whole array", one: "one segment", random: "segments of 10 to 50", three: "segments of 3", single: "segments of 1" };
const usualShape = (kernel) => (kernel.segments ? ["three", "random", "one", "single"].find((s) => runs[s]) : "whole");
const timeOf = (kernel, shape = usualShape(kernel)) =>
    kernel.name === "merge_lists" ? undefined : (runs[shape] || []).find((row) => row.kernel === kernel.name);
const readTime = (shape) => ((runs[shape] || runs.whole || [])[0] || {}).us;
/* What memory alone would take: values, and with segments as many bytes of segment ids. One block of many values has
 * the share of one multiprocessor. */
const isOneBlock = (kernel) => kernel.counts.blocks === 1 && kernel.counted > kernel.threads;
const roofline = (kernel) => {
    const plain = readTime(usualShape(kernel));
    if (plain === undefined || !timeOf(kernel)) return undefined;
    return plain * (kernel.segments ? 2 : 1) * (isOneBlock(kernel) ? data.measured.multiprocessors || 1 : 1);
};

/* ---- the table ---- */

const firstTimed = kernels.find((k) => k.name === "two_loads");
const speedUp = (kernel) => {
    const time = timeOf(kernel), first = timeOf(firstTimed);
    return time && first && !kernel.segments ? first.us / time.us : undefined;
};
const occupancy = (k) => {
    const time = timeOf(k), most = data.measured.most_threads;
    return time && time.resident && most ? (time.resident * time.threads) / most : undefined;
};
const divergence = (k) => (k.counts.branches ? k.counts.divergent / k.counts.branches : 0);
const columns = [
    ["#", (k) => kernels.indexOf(k), (k) => k.number, "", "its number in tally race; to sort by it gives the order of the course"],
    ["kernel", (k) => k.name, null, "name", "its name"],
    ["loads a thread", (k) => k.counts.loads, (k) => number(k.counts.loads, k.counts.loads % 1 ? 1 : 0), "", "values that a thread of the first launch reads, on average"],
    ["barriers", (k) => k.counts.barriers, (k) => number(k.counts.barriers), "", "barriers that a block of the first launch meets at"],
    ["diverge", divergence, (k) => percent(divergence(k)), "", "branches of warps in which some lanes go one way and some the other"],
    ["bank conflicts", (k) => k.counts.bank_conflicts, (k) => number(k.counts.bank_conflicts), "", "turns that shared memory loses because lanes want different words of one bank"],
    ["transactions", (k) => k.counts.transactions / k.counted, (k) => number((1000 * k.counts.transactions) / k.counted), "", "of 128 bytes with global memory, for 1000 values: 32 of them read 1000 f32"],
    ["registers", (k) => (timeOf(k) || {}).registers, (k) => number((timeOf(k) || {}).registers), "", "of a thread, as the compiler says; needs a race with --json"],
    ["occupancy", occupancy, (k) => percent(occupancy(k)), "", "threads that a multiprocessor holds at once, of those that it could: registers, shared memory and the size of blocks limit it; of the first launch"],
    ["predicted µs", roofline, (k) => number(roofline(k), 1), "", "the roofline: the bytes that have to be read, at the speed of the plain read; of one block at that of one multiprocessor out of all"],
    ["measured µs", (k) => (timeOf(k) || {}).us, (k) => number((timeOf(k) || {}).us, 1), "", "the time of one run"],
    ["one block, ns", (k) => alone[k.name], (k) => number(alone[k.name]), "", "the time of one block alone, over the values that a block is for; a launch repeats it"],
    ["share", (k) => (timeOf(k) || {}).share, (k) => percent((timeOf(k) || {}).share), "share", "of the speed of the plain read"],
    ["speed-up", speedUp, (k) => (speedUp(k) === undefined ? "–" : Number(speedUp(k).toPrecision(2)) + "×"), "", "over two_loads, the first kernel for any length"],
    ["because", (k) => k.parts["In short"], (k) => k.parts["In short"], "why", "what the time is bound by, in short"],
];
const hasRegisters = Object.values(runs).some((run) => run.some((row) => row.registers));
const shown = columns.filter(([name]) =>
    (name !== "registers" || hasRegisters) && (name !== "occupancy" || kernels.some((k) => occupancy(k) !== undefined)) && (name !== "one block, ns" || Object.keys(alone).length > 0));
let sorted = { column: 0, down: false };

function tableRow(kernel) {
    return make("tr", { "data-name": kernel.name }, ...shown.map(([name, , text, kind]) => {
        const share = name === "share" && timeOf(kernel) ? `--share:${100 * timeOf(kernel).share}%` : undefined;
        const inside = name === "kernel" ? make("a", { href: "#" + kernel.name }, kernel.name) : String(text(kernel));
        return make("td", { class: kind || false, style: share }, inside);
    }));
}

function drawTable() {
    const order = [...kernels];
    const value = shown[sorted.column][1];
    order.sort((a, b) => {
        const x = value(a), y = value(b);
        if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
        return (x < y ? -1 : x > y ? 1 : 0) * (sorted.down ? -1 : 1);
    });
    const head = make("tr", {}, ...shown.map(([name, , , kind, what], c) =>
        make("th", { scope: "col", class: kind || false, title: what, "aria-sort": c === sorted.column ? (sorted.down ? "descending" : "ascending") : false },
            make("button", { type: "button", onclick: () => { sorted = { column: c, down: sorted.column === c && !sorted.down }; drawTable(); } }, name))));
    const body = make("tbody");
    for (const kernel of order) {
        const chapter = data.chapters.find((c) => c.kernels[0] === kernel.number);
        if (sorted.column === 0 && !sorted.down && chapter) {
            body.append(make("tr", { class: "chapter" }, make("td", { colspan: shown.length }, chapter.title)));
        }
        body.append(tableRow(kernel));
    }
    $("table").replaceChildren(make("thead", {}, head), body);
    markRow();
}
function markRow() {
    for (const row of document.querySelectorAll("#table tr[data-name]")) row.classList.toggle("now", row.dataset.name === now.name);
}

const words = {
    coalesced: "Lanes of a warp that read neighbouring words get them in one transaction of 128 bytes.",
    bandwidth: "Bytes a second that memory gives at most. The plain read shows what can be had of it.",
    latency: "The time from asking memory for a value to having it: some hundred nanoseconds.",
    "Little’s law": "Bytes on their way = bandwidth × latency. With fewer in flight the bandwidth is not reached, however few instructions there are.",
    occupancy: "The warps that a multiprocessor holds, of those that it could: registers, shared memory and the size of blocks limit it.",
    roofline: "The time of what bounds a kernel at best. A reduction reads each byte once and computes little: its roof is bandwidth.",
    divergence: "Lanes of a warp that take different branches take their turns.",
    "bank conflict": "Shared memory has 32 banks; lanes that want different words of one bank wait for one another.",
    element: "A value, or several combined. The identity is the element that changes nothing.",
};

/* ---- code ---- */

const keywords = /\b(__global__|__device__|__host__|__shared__|const|constexpr|float|int|int64_t|unsigned|for|while|if|else|return|struct|inline|static|void|bool|template|typename|typedef)\b/g;
const cudaWords = /\b(threadIdx|blockIdx|blockDim|gridDim|__syncthreads|__syncwarp|__threadfence|__shfl_down_sync|__shfl_sync|atomicInc|atomicAdd)\b/g;
function coloured(code) {
    return code.split("\n").map((line) => {
        const at = line.indexOf("//");
        const text = escape(at < 0 ? line : line.slice(0, at)), comment = at < 0 ? "" : line.slice(at);
        return text.replace(keywords, '<span class="k">$1</span>').replace(cudaWords, '<span class="u">$1</span>') +
            (comment ? `<span class="c">${escape(comment)}</span>` : "");
    }).join("\n");
}
const deviceCode = (code) => code.slice(code.indexOf("// The operator"), code.indexOf("// ---- the host")).trim();

function codeView(kernel) {
    const pre = make("pre", { tabindex: 0, "aria-label": "the kernel as CUDA" });
    const whole = make("button", { type: "button", "aria-pressed": "false" }, "with its host");
    const copy = make("button", { type: "button" }, "copy the .cu");
    const draw = (all) => { pre.innerHTML = coloured(all ? kernel.code : deviceCode(kernel.code)); };
    whole.addEventListener("click", () => {
        const all = whole.getAttribute("aria-pressed") !== "true";
        whole.setAttribute("aria-pressed", String(all));
        whole.textContent = all ? "the kernel alone" : "with its host";
        draw(all);
    });
    copy.addEventListener("click", async () => {
        try {
            await navigator.clipboard.writeText(kernel.code);
            copy.textContent = "copied";
        } catch {
            whole.click();
            getSelection().selectAllChildren(pre);
            copy.textContent = "selected";
        }
    });
    draw(false);
    const file = `${String(kernel.number).padStart(3, "0")}_${kernel.name}.cu`;
    return make("div", {}, make("h3", {}, "The kernel"), pre,
        make("div", { class: "tools" }, whole, copy, make("span", { class: "hint" }, `tally emit ${kernel.name} -o ${file} && nvcc ${file}`)));
}

/* ---- the picture ---- */

let view = null; /* of the kernel that is shown: { go(step), step, last, ask } */

function valueOf(holds, show) {
    const values = digits.filter((_, i) => (holds >> BigInt(i)) & 1n);
    return show === "sum" ? values.reduce((a, b) => a + b, 0) : Math.min(...values);
}

function threadsOf(frame, picture) {
    const blocks = frame.active.map((threads, b) => {
        const warps = [];
        for (let t = 0; t < threads.length; t += picture.lanes) {
            const lanes = [...threads.slice(t, t + picture.lanes)];
            warps.push(make("span", { class: "warp" }, ...lanes.map((lane, l) =>
                make("i", { class: lane === "#" ? "on" : false, title: `block ${b}, thread ${t + l}` }))));
        }
        return make("span", { class: "block" }, ...warps);
    });
    return make("div", { class: "threads", "aria-hidden": "true" }, ...blocks);
}

function sayFrame(frame, picture) {
    const barrier = frame.barriers ? "all threads of a block" : frame.meetings ? "the lanes of a warp" : "nobody";
    const fact = (what, text, bad) => make("div", { class: bad ? "bad" : false }, make("b", {}, String(text)), " " + what);
    return [
        make("div", { class: "step" }, (picture.launches > 1 ? `Launch ${frame.launch + 1}. ` : "") + frame.text[0].toUpperCase() + frame.text.slice(1) + "." +
            (frame.guard ? " " + frame.guard[0].toUpperCase() + frame.guard.slice(1) + "." : "")),
        fact(frame.count === 1 ? "thread makes something" : "threads make something", frame.count),
        fact("branches of warps diverge", frame.branches ? `${frame.divergent} of ${frame.branches}` : 0, frame.divergent > 0),
        fact("turns lost to banks", frame.conflicts, frame.conflicts > 0),
        fact(barrier === "nobody" ? "waits then" : "wait for each other then", barrier),
        threadsOf(frame, picture),
    ];
}

function pictureView(kernel) {
    const picture = kernel.picture;
    picture.launches = Math.max(...picture.frames.map((f) => f.launch)) + 1;
    const box = make("div", { class: "picture", tabindex: 0, role: "group", "aria-label": `the steps of ${kernel.name}` });
    box.innerHTML = picture.svg;
    const frames = [...box.querySelectorAll("g.frame")], groups = [...box.querySelectorAll("g[data-f]")], texts = [...box.querySelectorAll("text[data-h]")];
    for (const text of texts) text.dataset.set = text.textContent;
    const last = frames.length;
    const slider = make("input", { type: "range", min: 0, max: last, value: 0, "aria-label": "step" });
    const back = make("button", { type: "button", "aria-label": "step back" }, "‹"), on = make("button", { type: "button", class: "main" }, "step ›");
    const ask = make("input", { type: "checkbox", id: "ask" });
    const show = make("select", { "aria-label": "what boxes show" }, make("option", { value: "set" }, "which inputs"), make("option", { value: "sum" }, "their sum"), make("option", { value: "min" }, "their minimum"));
    const say = make("div", { class: "say", "aria-live": "polite" });
    const count = make("span", { class: "hint" });

    function go(step) {
        view.step = Math.max(0, Math.min(last, step));
        slider.value = view.step;
        for (const group of groups) {
            group.classList.toggle("later", group.dataset.f >= view.step);
            group.classList.toggle("now", Number(group.dataset.f) === view.step - 1);
        }
        count.textContent = `${view.step} of ${last}`;
        back.disabled = view.step === 0;
        on.disabled = view.step === last;
        const start = make("div", { class: "step" }, `${picture.values} values, blocks of ${picture.threads} threads, warps of ${picture.lanes} lanes. What will the first step do?`);
        say.replaceChildren(...(view.step === 0 ? [start] : sayFrame(picture.frames[view.step - 1], picture)));
        const y = view.step === 0 ? 0 : Number(frames[view.step - 1].dataset.y);
        box.scrollTop = Math.max(0, y - box.clientHeight / 2);
    }
    function quiz() {
        const next = picture.frames[view.step];
        const answer = make("input", { type: "number", min: 0, max: picture.threads * picture.blocks, required: true, "aria-label": "your prediction" });
        const form = make("form", { class: "quiz" }, "How many of the ", make("b", {}, String(picture.threads * picture.blocks)), " threads make something in the next step? ", answer, " ", make("button", {}, "look"));
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            const right = Number(answer.value) === next.count;
            go(view.step + 1);
            say.prepend(make("div", { class: "quiz" }, right ? "Right." : `You said ${answer.value}; it is ${next.count}.`));
            on.focus();
        });
        say.replaceChildren(form);
        answer.focus();
    }
    const forward = () => (ask.checked && view.step < last ? quiz() : go(view.step + 1));
    slider.addEventListener("input", () => go(Number(slider.value)));
    back.addEventListener("click", () => go(view.step - 1));
    on.addEventListener("click", forward);
    show.addEventListener("change", () => {
        for (const text of texts) text.textContent = show.value === "set" ? text.dataset.set : String(valueOf(BigInt("0x" + text.dataset.h), show.value));
    });
    view = { step: 0, last, go, forward };
    const legend = make("p", { class: "hint" }, "White: inputs. Blue: shared memory, its bank below. Yellow: registers. Green: what is left in global memory. Below a box the thread that made it. ",
        "A thick line is a barrier of the block, a dashed one of a warp. Pictures have warps of 4 lanes, 4 banks and matrices of 4 rows, so that little shows what 32 do.");
    return make("div", {}, make("h3", {}, "What happens, step by step"), make("div", { class: "tools" }, back, slider, on, count),
        box, say, make("div", { class: "tools" }, make("label", {}, "boxes show ", show), make("label", { for: "ask" }, ask, " ask me before each step")), legend);
}

/* As the paper draws it. */
function figureView(figure) {
    const box = make("div", { class: "picture figure", tabindex: 0, role: "group", "aria-label": `the paper's ${figure.name}` });
    box.innerHTML = figure.svg;
    return make("section", {}, make("h3", {}, `The paper’s ${figure.name}, drawn from a run`), box);
}

/* ---- a kernel ---- */

function factsOf(kernel) {
    const c = kernel.counts, fact = (value, what) => make("div", {}, make("b", {}, value), make("span", {}, what));
    return make("div", { class: "facts" },
        fact(number(c.launches), c.launches === 1 ? "launch" : "launches"), fact(number(c.blocks), `blocks of ${c.threads} threads, first launch`),
        fact(number(c.loads, c.loads % 1 ? 1 : 0), "loads a thread"), fact(number(c.barriers), "barriers a block meets at"),
        fact(number(c.warp_barriers), "warp barriers and shuffles"), fact(`${number(c.divergent)} of ${number(c.branches)}`, "branches diverge"),
        fact(number(c.bank_conflicts), "turns lost to banks"), fact(number(c.transactions), "transactions of 128 bytes"));
}

function timesOf(kernel) {
    const rows = Object.keys(runs).map((shape) => [shape, timeOf(kernel, shape)]).filter(([, time]) => time);
    if (rows.length === 0) return make("p", {}, kernel.name === "merge_lists" ? "It merges lists, and is no reduction of an array." : kernel.counted === kernel.threads ? "It takes one block of values only, and is not timed beside the others." : "It came after the race that is shown here: tally race times it on your GPU.");
    return make("div", {}, ...rows.map(([shape, time]) => make("div", {}, `${shapes[shape] || shape}: `, make("b", {}, number(time.us, 1) + " µs"), `, ${percent(time.share)} of the plain read`,
        make("div", { class: "bar" }, make("i", { style: `width:${Math.min(100, 100 * time.share)}%` })))));
}

/* ---- sweeps: a parameter of the launch, and the time ---- */

const sweeps = data.measured.sweeps || [];
const svg = (tag, attributes, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
};
/* As close as seven lines allow. */
function ticksOf(least, most) {
    const steps = [[1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9], [1, 1.5, 2, 3, 4, 5, 7], [1, 2, 5], [1]];
    const all = steps.map((step) => [0, 1, 2, 3, 4, 5, 6].flatMap((k) => step.map((s) => s * 10 ** k)).filter((t) => t >= least && t <= most));
    return all.find((ticks) => ticks.length <= 7) || all[3];
}
const shapeOf = (sweep) => `${number(sweep.n)} values, ${sweep.by === "lists" ? "in sorted lists" : shapes[sweep.shape || "whole"] || sweep.shape}`;

const duration = (us) => (us < 1e3 ? `${Number(us.toPrecision(3))} µs` : us < 1e6 ? `${Number((us / 1e3).toPrecision(3))} ms` : `${us / 1e6} s`);

/* Time by the parameter, both by their logarithms: of one kernel with its times, or of all with their names. */
function sweepView(sweep, kernel) {
    const lines = Object.entries(sweep.us).filter(([name]) => !kernel || name === kernel.name);
    const all = lines.flatMap(([, us]) => us).filter((us) => us !== null);
    const least = Math.min(...all) / 1.15, most = Math.max(...all) * 1.15, width = 640, height = kernel ? 170 : 320, right = kernel ? 40 : 196, left = 58;
    const x = (i) => left + (i / Math.max(1, sweep.values.length - 1)) * (width - right - left);
    const y = (us) => 22 + (1 - Math.log(us / least) / Math.log(most / least)) * (height - 64);
    const ticks = kernel ? [] : ticksOf(least, most);
    const box = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `time by ${sweep.by}` },
        ...ticks.map((t) => svg("g", {}, svg("line", { class: "grid", x1: left, x2: width - right, y1: y(t), y2: y(t) }), svg("text", { class: "e", x: left - 6, y: y(t) + 4 }, duration(t)))),
        ...sweep.values.map((value, i) => svg("text", { x: x(i), y: height - 22 }, String(value))),
        svg("text", { class: "soft", x: (left + width - right) / 2, y: height - 6 }, sweep.by));
    const ends = [];
    lines.forEach(([name, us], line) => {
        const there = us.map((v, i) => [v, i]).filter(([v]) => v !== null);
        if (there.length === 0) return;
        box.append(svg("polyline", { class: kernel ? "mine" : `l${line % 6}`, points: there.map(([v, i]) => `${x(i)},${y(v)}`).join(" ") }));
        if (kernel) box.append(...there.map(([v, i]) => svg("text", { class: "mine", x: x(i), y: y(v) - 7 }, duration(v))));
        else ends.push({ name, line, y: y(there[there.length - 1][0]) });
    });
    ends.sort((a, b) => a.y - b.y);
    ends.forEach((end, k) => {
        end.y = k > 0 ? Math.max(end.y, ends[k - 1].y + 13) : end.y;
        box.append(svg("text", { class: `name l${end.line % 6}`, x: width - right + 16, y: end.y + 4 }, end.name));
    });
    return make("div", { class: "sweep" }, make("p", {}, `${shapeOf(sweep)}, by ${sweep.by}`), box);
}
const sweepsOf = (kernel) => {
    const own = sweeps.filter((sweep) => sweep.us[kernel.name]);
    return own.length === 0 ? null : make("div", {}, make("h3", {}, "Measured with other parameters"), ...own.map((sweep) => sweepView(sweep, kernel)));
};

function predictView(kernel) {
    const parts = kernel.parts;
    const inside = make("div", { hidden: true }, make("p", {}, make("b", {}, parts.Answer)), make("h3", {}, "Measured"), timesOf(kernel),
        make("p", {}, make("b", {}, "Why. "), parts.Why), sweepsOf(kernel), make("h3", {}, `Counted on the simulator, ${number(kernel.counted)} values of f32`), factsOf(kernel));
    const reveal = make("button", { type: "button", class: "main", id: "reveal", "aria-expanded": "false" }, "Show what happens");
    reveal.addEventListener("click", () => {
        inside.hidden = !inside.hidden;
        reveal.setAttribute("aria-expanded", String(!inside.hidden));
        reveal.textContent = inside.hidden ? "Show what happens" : "Hide it again";
    });
    return make("section", { class: "card predict" }, make("h3", {}, "Predict"), make("p", {}, parts.Predict), reveal, inside);
}

function showKernel(kernel) {
    const parts = kernel.parts, chapter = chapterOf(kernel), place = kernels.indexOf(kernel);
    now = kernel;
    view = null;
    const code = codeView(kernel), picture = kernel.picture ? pictureView(kernel) : null;
    const detail = (name) => (parts[name] ? make("p", {}, make("b", {}, name + ". "), parts[name]) : null);
    $("kernel").replaceChildren(...[
        make("p", { class: "over" }, chapter.title), make("h2", { id: "title", tabindex: -1 }, `${kernel.number}. ${kernel.name} `, make("small", {}, kernel.title)),
        chapter.kernels[0] === kernel.number && chapter.text ? make("p", { class: "note" }, chapter.text) : null,
        make("p", { class: "lead" }, parts.Idea),
        make("div", { class: picture ? "columns" : false }, code, picture),
        kernel.figure ? figureView(kernel.figure) : null,
        predictView(kernel),
        make("details", {}, make("summary", {}, "Steps, work, requirements, source, and what had to change"),
            ...["Steps", "Work", "Requires", "Why no two threads write one output at once", "Changed", "Source"].map(detail)),
        make("p", { class: "note" }, make("b", {}, "Next. "), parts.Next),
    ].filter((part) => part !== null));
    $("select").value = kernel.name;
    $("previous").disabled = place === 0;
    $("next").disabled = place === kernels.length - 1;
    if (view) view.go(1);
    markRow();
}

/* ---- exercises ---- */

const titleOf = (exercise) => exercise.text.split("\n")[1].replace(/^ \* /, "");
/* The solution with the lines that the exercise does not have set off. */
function solved(exercise) {
    const before = new Set(exercise.text.split("\n"));
    return exercise.solution.split("\n").map((line) =>
        before.has(line) || line === " * Solved." ? escape(line) : `<span class="u">${escape(line) || " "}</span>`).join("\n");
}
function drawExercises() {
    data.exercises.forEach((exercise, k) => {
        const text = make("pre", { tabindex: 0 }), solution = make("pre", { tabindex: 0 });
        text.innerHTML = coloured(exercise.text);
        solution.innerHTML = solved(exercise);
        $("exercise-list").append(make("details", {}, make("summary", {}, `${k + 1}. ${titleOf(exercise)}`), text));
        $("solution-list").append(make("details", {}, make("summary", {}, `Solution ${k + 1}`), solution));
    });
}

/* ---- going from kernel to kernel ---- */

let now = kernels[1];
const byName = (name) => kernels.find((k) => k.name === name);
function open(name, scroll) {
    const kernel = byName(name) || kernels[1];
    showKernel(kernel);
    if (scroll) $("kernel").scrollIntoView();
}
const move = (by) => { const next = kernels[kernels.indexOf(now) + by]; if (next) location.hash = next.name; };

document.addEventListener("keydown", (event) => {
    const inField = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.ctrlKey || event.metaKey || event.altKey || inField) return;
    if (event.key === "n") move(1);
    else if (event.key === "p") move(-1);
    else if (view && event.key === "ArrowRight") view.forward();
    else if (view && event.key === "ArrowLeft") view.go(view.step - 1);
    else return;
    event.preventDefault();
});
window.addEventListener("hashchange", () => open(location.hash.slice(1), true));
$("select").append(...data.chapters.map((chapter) => make("optgroup", { label: chapter.title },
    ...kernels.filter((k) => chapterOf(k) === chapter).map((k) => make("option", { value: k.name }, `${k.number}. ${k.name}`)))));
$("select").addEventListener("change", (event) => { location.hash = event.target.value; });
$("previous").addEventListener("click", () => move(-1));
$("next").addEventListener("click", () => move(1));

$("overview-words").textContent = `Times: ${data.measured.op || "min"} of ${number(data.measured.n)} ${data.measured.type || "f32"} on ${data.measured.device}` +
    (data.measured.file ? ` (${data.measured.file})` : "") + `. Counts: ${number(kernels[0].counted)} values on the simulator, but for kernels of one block or of lists. Segmented kernels: segments of 3. Choose a column to sort by it.`;
$("words").append(...columns.filter(([name]) => shown.some((c) => c[0] === name)).slice(2).flatMap(([name, , , , what]) => [make("dt", {}, name), make("dd", {}, what)]),
    ...Object.entries(words).flatMap(([word, what]) => [make("dt", {}, word), make("dd", {}, what)]));
$("colophon").textContent = `Made by tally course, Tally ${data.version}. With your own GPU: tally race --json > race.json, then tally course --measured race.json.`;
drawTable();
drawExercises();
$("sweeps").hidden = sweeps.length === 0;
$("sweep-list").append(...sweeps.map((sweep) => sweepView(sweep)));
open(location.hash.slice(1), false);
