// How plots look: the colours of the page, light or dark, and axes in natural units.
"use strict";
(function (doetune) {
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  doetune.colours = () => ({ ink: style("--ink"), faint: style("--faint"), paper: style("--paper"),
                             quiet: style("--quiet"), series: style("--series"),
                             band: style("--band"), optimum: "#d55e00" });

  // Viridis, a third of the way to white so that dark labels stay legible on all of it.
  doetune.viridis = () => {
    const anchors = [[68, 1, 84], [72, 40, 120], [62, 73, 137], [49, 104, 142], [38, 130, 142],
                     [31, 158, 137], [53, 183, 121], [109, 205, 89], [180, 222, 44], [253, 231, 37]];
    return anchors.map((rgb, i) => [i / (anchors.length - 1), "rgb(" +
      rgb.map((channel) => Math.round(channel + (255 - channel) * 0.35)).join(",") + ")"]);
  };

  doetune.baseLayout = () => ({
    autosize: true, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, sans-serif", size: 12, color: doetune.colours().ink },
    showlegend: false, hovermode: "closest", dragmode: false,
  });

  doetune.baseAxis = () => ({ gridcolor: doetune.colours().faint, zeroline: false, ticks: "outside",
                              linecolor: doetune.colours().ink, mirror: true, fixedrange: true });

  // Plotly reads some texts as markup of its own; names are shown as they are.
  doetune.plainText = (text) =>
    String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  doetune.axisTitle = (of) => doetune.plainText(doetune.format.nameWithUnit(of));

  doetune.factorAxis = (factor) => {
    const title = { text: doetune.axisTitle(factor), standoff: 6 };
    if (factor.kind === "categorical") {
      return { title, type: "category", range: [-0.5, factor.level_names.length - 0.5] };
    }
    const log = factor.scale !== "linear";
    const bound = (x) => (log ? Math.log10(x) : x);
    return { title, type: log ? "log" : "linear", range: [bound(factor.low), bound(factor.high)],
             tickmode: "array", tickvals: factor.ticks, ticktext: doetune.format.tickLabels(factor.ticks) };
  };

  doetune.plotConfig = () => ({ displaylogo: false, displayModeBar: false, responsive: true });
})((window.doetune = window.doetune || {}));
