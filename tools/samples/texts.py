"""The texts of the sample documents. The company, its products and its people are made up."""

from typing import Any

Block = tuple[str, Any]

HANDBOOK: list[Block] = [
    ("title", "Larkspur LS-2400 Series Switch Handbook"),
    (
        "text",
        "Edition 3, for firmware 4.2 and later. Larkspur Networks makes managed switches for offices, schools and "
        "small data rooms. This handbook covers the three models of the LS-2400 series: the LS-2408, the LS-2424 "
        "and the LS-2448P.",
    ),
    ("h1", "1 Getting to know the switch"),
    ("h2", "1.1 The models"),
    (
        "text",
        "All three models run the same firmware and share one configuration format, so that a configuration saved "
        "on an LS-2408 can be loaded on an LS-2448P; ports that do not exist are skipped and reported. The LS-2408 "
        "has no fan and is silent. The LS-2424 has one fan, and the LS-2448P has three, which run at the lowest "
        "speed that keeps the inside below 55 °C.",
    ),
    (
        "table",
        (
            "Table 1. Models of the LS-2400 series",
            [
                ["Model", "Copper ports", "Uplinks", "PoE budget", "Switching capacity", "Power draw (max)"],
                ["LS-2408", "8 × 1 Gbit/s", "2 × SFP 1 Gbit/s", "none", "20 Gbit/s", "12 W"],
                ["LS-2424", "24 × 1 Gbit/s", "4 × SFP+ 10 Gbit/s", "none", "128 Gbit/s", "34 W"],
                ["LS-2448P", "48 × 1 Gbit/s", "4 × SFP+ 10 Gbit/s", "740 W", "176 Gbit/s", "890 W"],
            ],
        ),
    ),
    ("h2", "1.2 The front panel"),
    (
        "text",
        "From left to right the front panel carries the status lights, the console port, the copper ports and the "
        "uplink ports. The console port is a USB-C socket that appears to a computer as a serial line at 115200 "
        "baud, 8 data bits, no parity, 1 stop bit.",
    ),
    (
        "picture",
        (
            "front-panel.png",
            "Figure 1. Front panel of the LS-2424: status lights, console port, 24 copper ports and four SFP+ uplinks",
        ),
    ),
    ("h2", "1.3 What the lights mean"),
    (
        "table",
        (
            "Table 2. Status lights",
            [
                ["Light", "Green", "Amber", "Red", "Off"],
                ["PWR", "Power supply good", "Running on the redundant supply", "Power supply failed", "No power"],
                ["SYS", "Firmware running", "Starting, or updating firmware", "Firmware failed to start", "No power"],
                ["TEMP", "Below 55 °C", "55 to 65 °C", "Above 65 °C, ports are shut down", "Sensor missing"],
                ["Port", "Link at full speed", "Link at a lower speed", "Port shut down by loop guard", "No link"],
            ],
        ),
    ),
    ("h1", "2 Installation"),
    ("h2", "2.1 Where to put it"),
    (
        "text",
        "Leave at least 50 mm of free space on both sides of the switch for air. The room may be between 0 °C and "
        "45 °C; the LS-2448P at full PoE load needs a room below 40 °C. Do not place the fanless LS-2408 on top of "
        "another device that gives off heat. In a rack, the two brackets take four M6 screws; the LS-2448P weighs "
        "6.8 kg and should be lifted by two people or rest on a shelf while it is fastened.",
    ),
    ("h2", "2.2 First start"),
    (
        "text",
        "Connect the power cord and wait until the SYS light turns green, which takes about 90 seconds. The switch "
        "asks for an address by DHCP. If no answer comes within 60 seconds it takes the fallback address "
        "192.168.24.1 with the mask 255.255.255.0. Open the address in a browser and sign in as <b>admin</b> with the "
        "password printed on the label under the device. The switch insists on a new password of at least ten "
        "characters before it shows anything else.",
    ),
    ("h2", "2.3 Back to factory settings"),
    (
        "text",
        "Hold the recessed RESET button for ten seconds, until the SYS light blinks amber quickly, then let go. "
        "Holding it for less than three seconds only restarts the switch. Factory settings erase the configuration "
        "and the accounts; the firmware and the event log stay.",
    ),
    ("h1", "3 Everyday configuration"),
    ("h2", "3.1 Virtual networks (VLANs)"),
    (
        "text",
        "The switch knows up to 256 active VLANs with numbers from 1 to 4094. VLAN 1 is the default and cannot be "
        "removed. An access port belongs to one VLAN and sends frames without a tag; a trunk port carries many "
        "VLANs with tags and one native VLAN without. Larkspur advises to keep VLAN 1 empty and to manage the "
        "switch from a VLAN of its own, for example VLAN 99.",
    ),
    ("h2", "3.2 Link aggregation"),
    (
        "text",
        "Up to eight ports of the same speed form a group by LACP. A group survives the loss of all but one of its "
        "ports. Frames are spread by source and destination address, so that a single connection never exceeds the "
        "speed of one port.",
    ),
    ("h2", "3.3 Loop guard"),
    (
        "text",
        "Loop guard sends a small probe from every port each second. When a probe comes back, the port with the "
        "higher number is shut down for 300 seconds, its light turns red and an event is logged. Loop guard works "
        "beside spanning tree and is on by default; it should be turned off only on ports that lead to a protocol "
        "analyser.",
    ),
    ("h1", "4 Power over Ethernet (LS-2448P)"),
    (
        "text",
        "The LS-2448P delivers up to 30 W on each of its 48 ports, within a budget of 740 W for all ports together. "
        "When the budget is used up, ports with priority <i>low</i> are turned off first, beginning with the highest "
        "port number; ports with priority <i>critical</i> are never turned off before all others. A camera usually "
        "takes 8 W, a telephone 5 W and a wireless access point 18 W, so that the budget feeds, for example, 41 "
        "access points.",
    ),
    ("h1", "5 Firmware"),
    ("h2", "5.1 Updating"),
    (
        "text",
        "The switch holds two firmware images. An update is written to the image that is not in use and becomes "
        "active at the next restart; if the new image fails to start three times, the switch returns to the old one "
        "by itself. An update takes about four minutes, of which traffic stops for 70 seconds. Never take the power "
        "away while the SYS light is amber.",
    ),
    ("h2", "5.2 Versions that must not be skipped"),
    (
        "text",
        "From a version older than 3.8, update to 3.8 first, because 3.8 converts the format of the configuration. "
        "Version 4.0 removed Telnet; configurations that turned it on are loaded without it. Going back from 4.x to "
        "3.x erases the configuration, so save it before.",
    ),
    ("h1", "6 When something goes wrong"),
    ("h2", "6.1 No link"),
    (
        "text",
        "Check that the light at the other end is on. Copper cable of category 5e carries 1 Gbit/s over at most 100 "
        "metres. If the port light is amber, the link runs at a lower speed: most often one of the eight wires is "
        "broken. If the port light is red, loop guard has shut the port down; find the loop before you turn the "
        "port on again.",
    ),
    ("h2", "6.2 The switch cannot be reached"),
    (
        "text",
        "Connect to the console port and run <b>show address</b>. If the switch shows 192.168.24.1, it received no "
        "answer by DHCP. If the address is right but the page does not open, check that your computer is in the "
        "management VLAN and that the list of allowed managers is not too narrow; <b>clear managers</b> on the "
        "console empties that list.",
    ),
    ("h2", "6.3 Warranty and repair"),
    (
        "text",
        "Larkspur repairs or replaces a faulty switch free of charge for five years after purchase; fans and power "
        "supplies are covered for three years. Write to support@larkspur.example with the serial number and the "
        "support file from <i>System › Support file</i>. A replacement leaves the warehouse within two working days "
        "in Europe and within four elsewhere. Damage by lightning or by liquids is not covered.",
    ),
]

OFFICE: list[Block] = [
    ("title", "云雀网络员工手册"),
    (
        "text",
        "本手册适用于云雀网络（Larkspur Networks）上海与成都办公室的全体员工，自 2026 年 1 月 1 日起施行。手册与劳动合同不一致时，以劳动合同为准。",
    ),
    ("h1", "一、工作时间与考勤"),
    ("h2", "1. 工作时间"),
    (
        "text",
        "公司实行弹性工作制，每天工作八小时，核心时间为上午十点至下午四点，核心时间内所有人应当在线或在办公室。午休时间为十二点至一点半，不计入工作时间。",
    ),
    ("h2", "2. 远程办公"),
    (
        "text",
        "转正后的员工每周最多可以远程办公两天，需在前一个工作日下午六点之前在日历中登记。试用期员工、当周值班的员工以及实验室岗位不适用远程办公。远程办公期间应保持网络畅通，并通过公司 VPN 访问内部系统。",
    ),
    ("h2", "3. 加班"),
    (
        "text",
        "加班须事先得到直属主管的书面同意。工作日加班按一点五倍工资计算，休息日加班优先安排调休，无法调休的按两倍工资计算，法定节假日加班按三倍工资计算。调休应在三个月内使用完毕。",
    ),
    ("h1", "二、休假"),
    ("h2", "1. 年假"),
    (
        "text",
        "年假天数按在本公司的工作年限计算，见表一。当年未休完的年假最多可以结转五天到次年，结转的部分须在次年三月三十一日之前使用，逾期作废。",
    ),
    (
        "table",
        (
            "表一 年假天数",
            [
                ["工作年限", "年假天数", "可结转天数"],
                ["不满一年", "按月折算，每月一天", "0"],
                ["一年至三年", "12 天", "5 天"],
                ["三年至六年", "15 天", "5 天"],
                ["六年以上", "20 天", "5 天"],
            ],
        ),
    ),
    ("h2", "2. 病假与其他假期"),
    (
        "text",
        "病假连续三天以内凭挂号单或病历申请，超过三天须提供医院开具的诊断证明。每年有五天全薪病假，超出部分按基本工资的百分之六十发放。婚假十天，陪产假十五天，产假按当地规定执行。",
    ),
    ("h1", "三、差旅与报销"),
    (
        "text",
        "出差须提前三天在系统中提交申请，经主管批准后由行政统一订票。报销应在出差结束后十五个工作日内提交，发票抬头为“云雀网络科技（上海）有限公司”。住宿与餐补标准见表二，超出标准的部分由员工自行承担，特殊情况须由部门总监批准。",
    ),
    (
        "table",
        (
            "表二 差旅标准（每人每天，元）",
            [
                ["城市", "住宿上限", "餐补", "市内交通上限"],
                ["北京、上海、深圳、广州", "650", "120", "100"],
                ["省会城市及计划单列市", "480", "100", "80"],
                ["其他城市", "350", "80", "60"],
                ["境外", "1200", "300", "200"],
            ],
        ),
    ),
    (
        "text",
        "高铁可乘坐二等座，单程超过六小时可乘坐一等座。飞机限经济舱，飞行时间超过八小时的国际航班可申请超级经济舱。",
    ),
    ("h1", "四、设备与信息安全"),
    ("h2", "1. 设备领用"),
    (
        "text",
        "新员工入职当天领取一台笔记本电脑和一台显示器。笔记本电脑每四年更换一次，提前损坏的由信息技术部评估后维修或更换。离职时应在最后工作日归还全部设备。",
    ),
    ("h2", "2. 密码与数据"),
    (
        "text",
        "密码至少十二位，必须启用双因素认证。客户资料不得保存在个人设备或个人网盘中，也不得发送给未经批准的外部服务。发现设备丢失或疑似泄密时，应在两小时内报告信息安全邮箱 security@larkspur.example，并由信息技术部远程锁定设备。",
    ),
    ("h1", "五、福利"),
    (
        "text",
        "公司为全体员工缴纳五险一金，公积金比例为百分之七，并提供补充医疗保险。每年一次免费体检，安排在九月。员工每年有三千元学习经费，可用于书籍、课程与会议门票，凭发票报销。员工及家属购买本公司产品享受七折优惠。",
    ),
]

NOTES = """# Firmware 4.2 release notes · 固件 4.2 发行说明

Released on 12 March 2026 for the LS-2408, LS-2424 and LS-2448P.
本版本于 2026 年 3 月 12 日发布，适用于 LS-2408、LS-2424 和 LS-2448P。

## What is new

- **Cable test**: `cable test port 7` measures the length of a copper cable and finds the broken wire, to within
  one metre. The link is interrupted for two seconds.
- **Scheduled PoE**: ports of the LS-2448P can be switched off by a timetable, for example telephones at night.
- **Faster start**: from power to green SYS light in 90 seconds instead of 140.

## 新功能（中文摘要）

- **线缆检测**：命令 `cable test port 7` 可以测量铜缆长度并定位断线，误差不超过一米，检测时链路中断约两秒。
- **PoE 定时**：LS-2448P 的端口可以按时间表断电，例如夜间关闭 IP 电话。
- **启动更快**：从通电到 SYS 指示灯变绿由 140 秒缩短到 90 秒。

## Corrected

| Issue | What happened | 影响的型号 |
|---|---|---|
| LN-3127 | Trunk ports lost their native VLAN after a restart | all models · 全部型号 |
| LN-3140 | The fan of the LS-2424 ran at full speed below 5 °C | LS-2424 |
| LN-3155 | PoE priority *critical* was ignored when a power supply failed | LS-2448P |
| LN-3162 | 中文主机名在 LLDP 邻居列表中显示为问号 | all models · 全部型号 |

## Known limits · 已知限制

LACP groups with ports of different speeds stay down and log event 2207; this is intended.
不同速率的端口组成的 LACP 聚合组不会启用，并记录事件 2207，这是有意的设计。

The web page needs a browser from 2023 or later. 管理页面需要 2023 年以后的浏览器。

## Updating · 升级步骤

1. Save the configuration under *System › Configuration › Save*. 先在“系统 › 配置 › 保存”中备份配置。
2. From a version older than 3.8, update to 3.8 first. 低于 3.8 的版本必须先升级到 3.8。
3. Upload `ls2400-4.2.bin` and restart at a quiet hour; traffic stops for about 70 seconds.
   上传 `ls2400-4.2.bin`，并在业务空闲时重启，流量中断约 70 秒。
"""

PRICES: dict[str, list[list[Any]]] = {
    "Switches": [
        ["Model", "Order number", "Price (EUR)", "Price (CNY)", "Weight (kg)", "Warranty (years)", "In stock"],
        ["LS-2408", "LN-2408-EU", 129, 999, 1.2, 5, 412],
        ["LS-2424", "LN-2424-EU", 389, 2999, 3.4, 5, 187],
        ["LS-2448P", "LN-2448P-EU", 1149, 8899, 6.8, 5, 46],
    ],
    "Accessories": [
        ["Article", "Order number", "Price (EUR)", "Price (CNY)", "Fits"],
        ["SFP+ module, 10 km single mode", "LN-SFP10-LR", 79, 599, "LS-2424, LS-2448P"],
        ["SFP+ module, 300 m multi mode", "LN-SFP10-SR", 39, 299, "LS-2424, LS-2448P"],
        ["SFP module, 1 Gbit/s copper", "LN-SFP1-T", 25, 189, "all models"],
        ["Redundant power supply 1000 W", "LN-RPS-1000", 329, 2599, "LS-2448P"],
        ["Rack bracket set", "LN-RACK-24", 19, 149, "LS-2424, LS-2448P"],
        ["Spare fan", "LN-FAN-40", 29, 219, "LS-2424, LS-2448P"],
    ],
    "服务": [
        ["服务项目", "价格（元）", "响应时间", "说明"],
        ["标准支持", 0, "两个工作日", "随产品附送，邮件支持"],
        ["金牌支持（每台每年）", 600, "四小时", "电话支持，备件先行"],
        ["现场安装（每台）", 800, "五个工作日内", "限上海、成都、北京、深圳"],
        ["网络规划（每天）", 4500, "预约", "含一份书面报告"],
    ],
}
